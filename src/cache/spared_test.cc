// What a command works on, where room has to be made for what it makes of it.
#include <gtest/gtest.h>

#include <string>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

CacheOptions OfMebibytes(uint64_t mib) {
  CacheOptions options;
  options.memory_bytes = mib << 20;
  options.append_lanes = 1;
  return options;
}

// It finds room or it does not, and it stays in either case.
TEST(Spared, WhatIsRewrittenDoesNotGoToMakeItsOwnRoom) {
  for (const uint64_t mib : {2u, 3u, 4u, 8u, 16u}) {
    CacheOptions options = OfMebibytes(mib);
    options.object_bytes_max = static_cast<uint32_t>(mib << 19);
    const auto store = OpenStore(options);
    Client client(store.get());
    const std::string value(options.object_bytes_max - 1000, 'x');
    ASSERT_EQ(client.Set("key", value), Outcome::kStored) << mib;
    const Outcome touched = client.Touch("key", base::NowSeconds() + 1000);
    EXPECT_TRUE(touched == Outcome::kTouched || touched == Outcome::kNoMemory) << mib;
    EXPECT_TRUE(client.Value("key") == value) << mib;
    const Outcome appended = client.Put(StoreMode::kAppend, "key", "y").reply.outcome;
    EXPECT_TRUE(appended == Outcome::kStored || appended == Outcome::kNoMemory) << mib;
    EXPECT_EQ(client.Value("key").size(), value.size() + (appended == Outcome::kStored)) << mib;
  }
}

TEST(Spared, ATouchFindsWhatWasThere) {
  const auto store = OpenStore(OfMebibytes(16));
  Client client(store.get());
  const std::string value(300'000, 'x');
  for (uint64_t i = 0; i < 100; i++) ASSERT_EQ(client.Set(Key(i), value), Outcome::kStored);
  Command look = Client::Of(Verb::kRead, "");
  look.quiet_access = true;
  look.want_value = false;
  int found = 0;
  for (uint64_t i = 0; i < 100; i++) {
    const std::string key = Key(i);
    look.key = key;
    if (client.Run(look).reply.outcome != Outcome::kHit) continue;
    EXPECT_EQ(client.Touch(key, base::NowSeconds() + 1000), Outcome::kTouched) << i;
    found++;
  }
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace weft::cache
