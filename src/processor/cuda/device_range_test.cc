// Addresses that get memory chunk by chunk, on a device. Skipped where there is none.
#include "processor/cuda/device_range.h"

#include <gtest/gtest.h>

#include "processor/cuda/device_memory.h"

namespace weft::processor {
namespace {

TEST(DeviceRange, AChunkThatIsHeldCostsItsNeighboursNothing) {
  if (const Status status = SetDevice(0); !status.ok()) GTEST_SKIP() << status.ToString();
  constexpr uint64_t kPieceBytes = 64 << 10;  // far below a chunk
  auto range = DeviceRange::Reserve(64 << 20);
  ASSERT_TRUE(range.has_value()) << range.error().ToString();
  EXPECT_EQ(range->held_bytes(), 0u);
  const uint64_t chunk = range->MissingBytes(0, kPieceBytes);
  EXPECT_GT(chunk, kPieceBytes);
  EXPECT_EQ(range->MissingBytes(chunk - 8, 16), 2 * chunk);
  ASSERT_TRUE(range->Hold(0, kPieceBytes).ok());
  EXPECT_EQ(range->held_bytes(), chunk);
  EXPECT_EQ(range->MissingBytes(kPieceBytes, kPieceBytes), 0u);
  EXPECT_EQ(range->MissingBytes(chunk - 8, 16), chunk);
  ASSERT_TRUE(range->Hold(kPieceBytes, kPieceBytes).ok());
  EXPECT_EQ(range->held_bytes(), chunk);
  range->Drop(0, kPieceBytes);
  EXPECT_EQ(range->held_bytes(), chunk);
  EXPECT_EQ(range->MissingBytes(0, kPieceBytes), 0u);
  range->Drop(kPieceBytes, kPieceBytes);
  EXPECT_EQ(range->held_bytes(), 0u);
  EXPECT_EQ(range->MissingBytes(0, kPieceBytes), chunk);
}

}  // namespace
}  // namespace weft::processor
