#include "compaction/device/kernel/checksum_lanes.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "table/file_test_kit.h"

namespace weft::compaction::device {
namespace {

uint32_t ByLanes(const ChecksumTables& tables, std::string_view text) {
  uint32_t sum = 0;
  for (uint32_t lane = 0; lane < kLanes; lane++) {
    sum ^= ChecksumOfLane(tables, reinterpret_cast<const uint8_t*>(text.data()), text.size(), lane);
  }
  return MaskedChecksum(sum);
}

TEST(ChecksumLanes, IsCrc32cOfEveryLength) {
  const ChecksumTables tables = ChecksumTables::Make();
  table::Strings strings(table::TestSeed());
  for (size_t bytes = 4; bytes < 700; bytes++) {
    const std::string text = strings.Bytes(bytes);
    ASSERT_EQ(base::MaskCrc32c(base::Crc32c(text)), ByLanes(tables, text)) << bytes;
  }
  for (const size_t bytes : {4096, 4101, 65536, 100003}) {
    const std::string text = strings.Bytes(bytes);
    ASSERT_EQ(base::MaskCrc32c(base::Crc32c(text)), ByLanes(tables, text)) << bytes;
  }
}

// The check value of the polynomial, and bytes of which every bit counts.
TEST(ChecksumLanes, KnowsTheCheckValue) {
  const ChecksumTables tables = ChecksumTables::Make();
  EXPECT_EQ(base::MaskCrc32c(0xe3069283u), ByLanes(tables, "123456789"));
  const std::string zeros(1000, '\0');
  const uint32_t of_zeros = ByLanes(tables, zeros);
  for (size_t bit = 0; bit < zeros.size() * 8; bit++) {
    std::string flipped = zeros;
    flipped[bit / 8] = static_cast<char>(1 << (bit % 8));
    ASSERT_NE(of_zeros, ByLanes(tables, flipped)) << bit;
  }
}

}  // namespace
}  // namespace weft::compaction::device
