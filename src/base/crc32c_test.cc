#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

using Extend = uint32_t (*)(uint32_t, const char*, size_t);
constexpr Extend kWays[] = {ExtendCrc32c, ExtendCrc32cByTables};

// The definition, a bit at a time.
uint32_t ExtendByBits(uint32_t crc, const char* data, size_t bytes) {
  crc = ~crc;
  for (size_t i = 0; i < bytes; i++) {
    crc ^= static_cast<uint8_t>(data[i]);
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

std::string SomeBytes(size_t bytes) {
  std::mt19937_64 random(base::TestSeed(1));
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32c, KnownAnswers) {
  std::string ascending(32, '\0'), descending(32, '\0');
  for (int i = 0; i < 32; i++) {
    ascending[i] = static_cast<char>(i);
    descending[31 - i] = static_cast<char>(i);
  }
  for (Extend extend : kWays) {
    const auto crc = [extend](const std::string& text) {
      return extend(0, text.data(), text.size());
    };
    EXPECT_EQ(crc(std::string(32, '\0')), 0x8a9136aau);
    EXPECT_EQ(crc(std::string(32, '\xff')), 0x62a8ab43u);
    EXPECT_EQ(crc(ascending), 0x46dd794eu);
    EXPECT_EQ(crc(descending), 0x113fdb5cu);
    EXPECT_EQ(crc("123456789"), 0xe3069283u);
    EXPECT_EQ(crc(""), 0u);
  }
}

TEST(Crc32c, AllLengthsAndAlignmentsAgreeWithTheDefinition) {
  constexpr size_t kBytesMax = 4200;  // past one round of three streams
  const std::string text = SomeBytes(kBytesMax + 16);
  for (size_t start = 0; start < 16; start++) {
    uint32_t expected = 0;
    for (size_t bytes = 0; bytes <= kBytesMax; bytes++) {
      const char* const data = text.data() + start;
      for (Extend extend : kWays)
        ASSERT_EQ(extend(0, data, bytes), expected) << start << " " << bytes;
      expected = ExtendByBits(expected, data + bytes, 1);
    }
  }
}

TEST(Crc32c, LongInputsAgree) {
  const std::string text = SomeBytes(3 << 20);
  const uint32_t expected = ExtendByBits(0, text.data(), text.size());
  for (Extend extend : kWays) EXPECT_EQ(extend(0, text.data(), text.size()), expected);
}

TEST(Crc32c, ExtendAtEverySplitIsTheWhole) {
  for (size_t bytes : {9, 100, 290, 1000, 5000}) {
    const std::string text = SomeBytes(bytes);
    const uint32_t whole = Crc32c(text);
    for (size_t split = 0; split <= bytes; split++) {
      for (Extend extend : kWays) {
        const uint32_t first = extend(0, text.data(), split);
        ASSERT_EQ(extend(first, text.data() + split, bytes - split), whole)
            << bytes << " " << split;
      }
    }
  }
}

TEST(Crc32c, MaskIsUndoneAndChangesTheChecksum) {
  const uint32_t crc = Crc32c("foo");
  EXPECT_NE(MaskCrc32c(crc), crc);
  EXPECT_NE(MaskCrc32c(MaskCrc32c(crc)), crc);
  EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
  EXPECT_EQ(MaskCrc32c(0), 0xa282ead8u);
  std::mt19937 random(base::TestSeed(1));
  for (int i = 0; i < 1000; i++) {
    const uint32_t any = random();
    ASSERT_EQ(UnmaskCrc32c(MaskCrc32c(any)), any);
  }
}

}  // namespace
}  // namespace weft::base
