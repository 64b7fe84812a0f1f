// Threads   one.
#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

// A key of each length, and each of its bytes changed: no two have one hash.
TEST(KeyedHash, TakesEveryByteAndTheLength) {
  const KeyedHash hash = KeyedHash::FromSeed(TestSeed());
  std::set<uint64_t> seen;
  size_t keys = 0;
  for (size_t bytes = 0; bytes <= KeyedHash::kBytesMax; bytes++) {
    std::string key(bytes, 'x');
    seen.insert(hash(key));
    keys++;
    for (size_t i = 0; i < bytes; i++) {
      key[i] = 'y';
      seen.insert(hash(key));
      keys++;
      key[i] = 'x';
    }
  }
  EXPECT_EQ(seen.size(), keys);
}

TEST(KeyedHash, IsDefinedBeyondTheLongestKey) {
  const KeyedHash hash = KeyedHash::FromSeed(TestSeed());
  const std::string key(1000, 'x');
  EXPECT_EQ(hash(key), hash(std::string(1000, 'x')));
  EXPECT_NE(hash(key), hash(key.substr(0, 999)));
}

TEST(KeyedHash, IsTheSameForASeedAndDiffersForEachSecret) {
  EXPECT_EQ(KeyedHash::FromSeed(5)("key"), KeyedHash::FromSeed(5)("key"));
  EXPECT_NE(KeyedHash::FromSeed(5)("key"), KeyedHash::FromSeed(6)("key"));
  auto one = KeyedHash::Random();
  auto other = KeyedHash::Random();
  ASSERT_TRUE(one.has_value() && other.has_value());
  EXPECT_NE((*one)("key"), (*other)("key"));
}

// What made a flood of equal hashes cheap: where the first word of a key is that of XXH3's own
// secret, the second one is multiplied by 0.
TEST(KeyedHash, PartsKeysThatWereMadeForOneHash) {
  auto hash = KeyedHash::Random();
  ASSERT_TRUE(hash.has_value());
  const std::string first(reinterpret_cast<const char*>(XXH3_kSecret), 8);
  std::set<uint64_t> plain, keyed;
  for (int i = 0; i < 1000; i++) {
    const std::string key = first + std::to_string(10'000'000 + i) + std::string(16, 'z');
    plain.insert(HashBytes(key));
    keyed.insert((*hash)(key));
  }
  EXPECT_EQ(plain.size(), 1u);
  EXPECT_EQ(keyed.size(), 1000u);
}

// Keys that count up, in several ways of writing, fill buckets as keys by lot do: the squares of
// their numbers have the mean that Poisson's law gives, to five of its deviations.
TEST(KeyedHash, SpreadsKeysThatCount) {
  constexpr uint32_t kBuckets = 1 << 14, kKeys = 1 << 17;
  const auto numbered = [](int way, uint32_t i) {
    switch (way) {
      case 0: return std::to_string(i);
      case 1: return "user:" + std::to_string(100'000'000 + i) + ":name";
      case 2: return std::string(reinterpret_cast<const char*>(&i), sizeof i);
      case 3: return std::string(100, 'k') + std::to_string(i * 1000);
      default: return std::string(i % 200, 'p') + std::to_string(i / 200);
    }
  };
  for (uint64_t seed = TestSeed(); seed < TestSeed() + Rounds(10); seed++) {
    const KeyedHash hash = KeyedHash::FromSeed(seed);
    for (int way = 0; way < 5; way++) {
      for (const int shift : {0, 34, 50}) {
        std::vector<uint32_t> count(kBuckets);
        for (uint32_t i = 0; i < kKeys; i++) count[(hash(numbered(way, i)) >> shift) % kBuckets]++;
        double squares = 0;
        const double mean = double{kKeys} / kBuckets;
        for (const uint32_t each : count) squares += (each - mean) * (each - mean) / mean;
        EXPECT_NEAR(squares, kBuckets, 5 * std::sqrt(2.0 * kBuckets))
            << "seed " << seed << ", way " << way << ", shift " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace weft::base
