// What the reports of keys look at is bounded. tests/integration/dump_test.py has their lines.
#include "server/key_dump.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cache/cache_test_kit.h"

namespace weft::server {
namespace {

std::string Cachedump(cache::Store& store, uint32_t limit) {
  const auto session = store.NewSession();
  const cache::InBatch batch(*session);
  return CachedumpText(*session, limit);
}

size_t Lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(KeyDump, AReportLooksAtAPartOfALargeTable) {
  CacheOptions options;
  options.memory_bytes = uint64_t{256} << 20;
  options.expected_items = uint64_t{1} << 22;
  const auto store = cache::OpenStore(options);
  cache::Client client(store.get());
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(client.Set(cache::Key(i), "v"), Outcome::kStored);
  const size_t seen = Lines(Cachedump(*store, 0)) - 1;
  EXPECT_GT(seen, 20u);
  EXPECT_LT(seen, 1500u);
  const auto session = store->NewSession();
  const cache::InBatch batch(*session);
  // Of one size, and counted up to about as many as there are.
  const std::string sizes = SizesText(*session, 2000);
  ASSERT_EQ(Lines(sizes), 2u) << sizes;
  EXPECT_NEAR(std::stod(sizes.substr(sizes.rfind("STAT ") + 8)), 2000, 20) << sizes;
}

TEST(KeyDump, ACachedumpEndsAtTwoMegabytes) {
  CacheOptions options;
  options.memory_bytes = uint64_t{64} << 20;
  const auto store = cache::OpenStore(options);
  cache::Client client(store.get());
  const std::string tail(200, 'k');
  for (int i = 0; i < 12'000; ++i)
    ASSERT_EQ(client.Set(cache::Key(i) + tail, "v"), Outcome::kStored);
  const std::string text = Cachedump(*store, 0);
  EXPECT_LE(text.size(), size_t{2} << 20);
  EXPECT_GT(text.size(), (size_t{2} << 20) - 500);
  EXPECT_TRUE(text.ends_with(" s]\r\nEND\r\n"));
  EXPECT_EQ(Lines(Cachedump(*store, 7)), 8u);
}

}  // namespace
}  // namespace weft::server
