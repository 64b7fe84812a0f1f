// Where nothing may be evicted and the memory is full: what replaces, and is no longer than what it
// replaces, goes on.
//
// Threads   one.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/seed_test_kit.h"

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

struct Case {
  uint32_t value_bytes;
  uint32_t lanes;
};

class ReplaceWhenFull : public ::testing::TestWithParam<Case> {
 protected:
  ReplaceWhenFull() {
    CacheOptions options;
    options.memory_bytes = 16 << 20;
    options.evict = false;
    options.append_lanes = GetParam().lanes;
    store_ = OpenStore(options);
    client_ = std::make_unique<Client>(store_.get());
  }

  Outcome Run(Verb verb, std::string_view key, std::string_view value = {}, uint32_t expiry = 0) {
    Command command;
    command.verb = verb;
    command.key = key;
    command.value = value;
    command.expiry = expiry;
    command.update_expiry = verb == Verb::kTouch;
    return client_->Run(command).reply.outcome;
  }
  static std::string KeyOf(size_t i) { return "key" + std::to_string(i); }
  std::string ValueOf(char c, uint32_t less = 0) const {
    return std::string(GetParam().value_bytes - less, c);
  }
  // Stores new keys until none is taken any more.
  size_t Fill() {
    size_t count = 0;
    for (int refused = 0; refused < 20;) {
      if (Run(Verb::kStore, KeyOf(count), ValueOf('a')) == Outcome::kStored) {
        count++;
        refused = 0;
      } else {
        refused++;
      }
    }
    return count;
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Sizes, ReplaceWhenFull,
                         ::testing::Values(Case{40, 1}, Case{300, 1}, Case{300, 4}, Case{5000, 1},
                                           Case{20'000, 2}, Case{200'000, 1}));

TEST_P(ReplaceWhenFull, SameSizeAndSmallerAreStoredForAsLongAsYouLike) {
  ASSERT_EQ(Run(Verb::kStore, "number", "100000"), Outcome::kStored);
  const size_t count = Fill();
  // With versions, flags and expiries.
  ASSERT_GT(count * (GetParam().value_bytes + 16), size_t{8} << 20);
  std::mt19937 random(base::TestSeed(7));
  std::vector<char> expected(count, 'a');
  // Some times what is kept for replacing.
  const size_t rounds = Rounds((uint32_t{4} << 20) / GetParam().value_bytes + 500);
  for (size_t i = 0; i < rounds; i++) {
    const size_t key = random() % count;
    expected[key] = static_cast<char>('b' + i % 20);
    ASSERT_EQ(Run(Verb::kStore, KeyOf(key), ValueOf(expected[key])), Outcome::kStored) << i;
    if (i % 5 == 0) {
      ASSERT_EQ(Run(Verb::kArithmetic, "number"), Outcome::kNumber) << i;
    }
  }
  for (size_t i = 0; i < count; i++) ASSERT_EQ(client_->Value(KeyOf(i)), ValueOf(expected[i]));
  EXPECT_EQ(store_->Stats().evictions, 0u);
  EXPECT_LE(store_->Stats().memory_bytes, size_t{16} << 20);
}

// Whoever tries to store more meanwhile gets none of the room that is kept.
TEST_P(ReplaceWhenFull, NewItemsTakeNothingFromIt) {
  const size_t count = Fill();
  const size_t rounds = Rounds((uint32_t{4} << 20) / GetParam().value_bytes + 500);
  size_t more = count;
  for (size_t i = 0; i < rounds; i++) {
    if (Run(Verb::kStore, KeyOf(more), ValueOf('n')) == Outcome::kStored) more++;
    ASSERT_EQ(Run(Verb::kStore, KeyOf(i % count), ValueOf('r')), Outcome::kStored) << i;
  }
  EXPECT_LE(more - count, count / 10);
  for (size_t i = count; i < more; i++) ASSERT_EQ(client_->Value(KeyOf(i)), ValueOf('n'));
}

// Items get their first time to live and their first flags: nothing becomes longer by them.
TEST_P(ReplaceWhenFull, TouchesAndFlagsAreCarriedOut) {
  const size_t count = Fill(), stride = Stride(static_cast<uint32_t>(count));
  for (size_t i = 0; i < count; i += stride)
    ASSERT_EQ(Run(Verb::kTouch, KeyOf(i), {}, base::NowSeconds() + 10'000), Outcome::kTouched) << i;
  for (size_t i = 0; i < count; i += stride) {
    Command command;
    const std::string key = KeyOf(i), value = ValueOf('f');
    command.key = key;
    command.value = value;
    command.client_flags = 7;
    command.verb = Verb::kStore;
    ASSERT_EQ(client_->Run(command).reply.outcome, Outcome::kStored) << i;
  }
}

// What is longer finds none of the room that is kept for replacing.
TEST_P(ReplaceWhenFull, LongerIsRefusedAndChangesNothing) {
  const size_t count = Fill();
  const std::string longer = ValueOf('b') + std::string(400, 'b');
  size_t refused = 0;
  // Each that is refused waits for room first.
  for (size_t i = 0; i < count && refused < 50; i++) {
    const bool stored = Run(Verb::kStore, KeyOf(i), longer) == Outcome::kStored;
    refused += stored ? 0 : 1;
    ASSERT_EQ(client_->Value(KeyOf(i)), stored ? longer : ValueOf('a'));
  }
  EXPECT_GT(refused, 0u);
}

// As pipelined sets are: several in one epoch, of sizes that share segments where eviction is
// allowed.
TEST(ReplaceWhenFullInBatches, ValuesOfAsManyBytesAreNeverRefused) {
  CacheOptions options;
  options.memory_bytes = 64 << 20;
  options.evict = false;
  options.append_lanes = 1;
  const auto store = OpenStore(options);
  Client client(store.get());
  std::mt19937_64 random(base::TestSeed());
  std::vector<std::string> values;
  for (int refused = 0; refused < 20;) {
    values.emplace_back(20'000 + random() % 40'000, 'a');
    const std::string key = "key" + std::to_string(values.size() - 1);
    if (client.Set(key, values.back()) == Outcome::kStored) {
      refused = 0;
      continue;
    }
    values.pop_back();
    refused++;
  }
  Session& session = client.session();
  uint64_t refused = 0;
  for (uint32_t batch = 0; batch < base::Rounds(300); batch++) {
    constexpr uint32_t kSets = 16;
    session.Begin();
    for (uint32_t i = 0; i < kSets; i++) {
      const size_t at = random() % values.size();
      const std::string key = "key" + std::to_string(at);
      Command command = Client::Of(Verb::kStore, key);
      command.value = values[at];
      command.hash = store->HashOf(key);
      refused += ExecuteWithRoom(session, command).outcome != Outcome::kStored;
    }
    session.End();
    store->Maintain(session, kSets);
  }
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(store->Stats().items, values.size());
}

}  // namespace
}  // namespace weft::cache
