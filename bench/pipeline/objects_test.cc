#include "bench/pipeline/objects.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "task/table_test_kit.h"

namespace weft::bench {
namespace {

std::string Key(uint64_t number, uint32_t bytes) {
  std::string key(bytes, ' ');
  WriteBinaryKey(number, key.data(), bytes);
  return key;
}

std::string Value(const std::string& key, Version version, uint32_t bytes) {
  std::string value(bytes, ' ');
  WriteVersionedValue(key.data(), version, value.data(), bytes);
  return value;
}

TEST(Objects, KeysAreAOneToOneImageOfNumbers) {
  base::Random random(task::TestSeed());
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t number = i < 1000 ? static_cast<uint64_t>(i) : random.Next();
    ASSERT_EQ(Unmix(base::Mix(number)), number);
    ASSERT_EQ(NumberOfKey(Key(number, 8).data()), number);
  }
  // The longer ones begin with the same word, so they differ as well.
  EXPECT_EQ(Key(77, 128).substr(0, 8), Key(77, 8));
  EXPECT_NE(Key(77, 128).substr(8, 8), Key(78, 128).substr(8, 8));
}

// Neighbouring numbers give each value of each byte about as often: chi-square of 255 degrees of
// freedom stays below 400 but for one case in 10^8.
TEST(Objects, BytesOfKeysAreSpreadEvenly) {
  constexpr int kKeys = 1 << 16;
  std::array<std::array<int, 256>, 16> counts{};
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = Key(static_cast<uint64_t>(i), 16);
    for (size_t at = 0; at < 16; ++at) counts[at][static_cast<uint8_t>(key[at])]++;
  }
  for (const auto& count : counts) {
    double chi_square = 0;
    for (const int seen : count) chi_square += (seen - 256.0) * (seen - 256.0) / 256;
    EXPECT_LT(chi_square, 400);
  }
}

TEST(Objects, ValuesTellTheirVersion) {
  for (const uint32_t bytes : {8u, 64u, 256u, 1024u}) {
    for (const Version stored : {Version{0, 0}, Version{1, 1}, Version{255, UINT32_MAX}}) {
      const std::string key = Key(5, 16);
      Version version;
      ASSERT_TRUE(ReadVersion(key.data(), Value(key, stored, bytes).data(), bytes, &version));
      EXPECT_EQ(version, stored);
    }
  }
}

TEST(Objects, AnyChangedByteIsSeen) {
  base::Random random(task::TestSeed());
  const std::string key = Key(5, 16);
  for (const uint32_t bytes : {8u, 64u, 1024u}) {
    for (uint32_t at = 0; at < bytes; ++at) {
      std::string value = Value(key, {3, 9}, bytes);
      value[at] = static_cast<char>(value[at] ^ (1 + random.Below(255)));
      Version version;
      EXPECT_FALSE(ReadVersion(key.data(), value.data(), bytes, &version)) << bytes << " " << at;
    }
  }
}

TEST(Objects, AnotherKeysValueIsSeen) {
  for (uint64_t other = 6; other < 1000; ++other) {
    Version version;
    EXPECT_FALSE(
        ReadVersion(Key(5, 8).data(), Value(Key(other, 8), {1, 1}, 8).data(), 8, &version));
  }
}

}  // namespace
}  // namespace weft::bench
