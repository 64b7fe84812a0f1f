#include "bench/drive/hdr_encoding.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace weft::bench {
namespace {

using base::Histogram;

constexpr size_t kIndexes = 32'768;  // HdrHistogram's, of values up to Histogram::kValueMax

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string ZigZag(int64_t number) {
  std::string out;
  AppendZigZag(number, &out);
  return Hex(out);
}

// What HdrHistogram counts at `index`: AbstractHistogram.java has it as valueFromIndex.
uint64_t LowestAt(size_t index) {
  const int bucket = static_cast<int>(index >> 10) - 1;
  const uint64_t sub_bucket = (index & 1023) + 1024;
  return bucket < 0 ? sub_bucket - 1024 : sub_bucket << bucket;
}
uint64_t HighestAt(size_t index) { return LowestAt(index + 1) - 1; }

TEST(HdrEncoding, IndexIsWhereHdrHistogramCounts) {
  for (size_t i = 0; i < kIndexes; ++i) {
    ASSERT_EQ(HdrIndex(LowestAt(i)), i);
    ASSERT_EQ(HdrIndex(HighestAt(i)), i);
  }
  EXPECT_EQ(HighestAt(kIndexes - 1), Histogram::kValueMax);
}

// The first and the last value of each of HdrHistogram's cells share a cell of ours, and no other
// value of these does.
TEST(HdrEncoding, CellsAreThoseOfTheHistogram) {
  Histogram h;
  for (size_t i = 0; i < kIndexes; ++i) {
    h.Record(LowestAt(i));
    h.Record(HighestAt(i));
  }
  size_t index = 0;
  h.ForEach([&](uint64_t value, uint64_t times) {
    EXPECT_EQ(value, HighestAt(index));
    EXPECT_EQ(times, 2u);
    ++index;
  });
  EXPECT_EQ(index, kIndexes);
}

// The expected bytes are those of HdrHistogram 2.1.11 in Java: encodeIntoByteBuffer of
// new Histogram(1, 2199023255551L, 3) with the same values.
TEST(HdrEncoding, BytesAreThoseOfHdrHistogram) {
  Histogram h;
  EXPECT_EQ(Hex(EncodeHdr(h)),
            "1c849313000000010000000000000003"
            "0000000000000001000001ffffffffff3ff000000000000000");
  h.Record(0, 1);
  h.Record(1, 2);
  h.Record(3, 1);
  h.Record(2047, 70);
  h.Record(2048, 1);
  h.Record(5000, 3);
  h.Record(1'234'567, 100'000);
  h.Record(3'000'000'000, 5'000'000'000'000'000'000);
  h.Record(Histogram::kValueMax, 1);
  EXPECT_EQ(Hex(EncodeHdr(h)),
            "1c849313000000210000000000000003"
            "0000000000000001000001ffffffffff3ff0000000000000"
            "02040002f51f8c0102c11306a37fc09a0cbfb3018080a0cfc8e0c8e38acf990102");
}

TEST(HdrEncoding, ZigZagHasNineBytesAtMost) {
  EXPECT_EQ(ZigZag(0), "00");
  EXPECT_EQ(ZigZag(-1), "01");
  EXPECT_EQ(ZigZag(1), "02");
  EXPECT_EQ(ZigZag(63), "7e");
  EXPECT_EQ(ZigZag(64), "8001");
  EXPECT_EQ(ZigZag(-65), "8101");
  EXPECT_EQ(ZigZag(INT64_MAX), "feffffffffffffffff");
  EXPECT_EQ(ZigZag(INT64_MIN), "ffffffffffffffffff");
}

}  // namespace
}  // namespace weft::bench
