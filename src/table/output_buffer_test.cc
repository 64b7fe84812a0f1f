#include "table/output_buffer.h"

#include <gtest/gtest.h>

#include <string>

#include "base/counted_memory_test_kit.h"

namespace weft::table {
namespace {

TEST(OutputBuffer, HasItsMemoryFromWhereItIsTold) {
  base::CountedMemory memory;
  {
    OutputBuffer buffer(&memory);
    std::string expected;
    for (int i = 0; i < 3000; i++) {
      buffer.Append(std::to_string(i));
      expected += std::to_string(i);
    }
    EXPECT_EQ(expected, buffer.From(0));
    EXPECT_EQ(1u, memory.ranges());
    OutputBuffer moved = std::move(buffer);
    EXPECT_EQ(expected, moved.From(0));
    moved.Clear();
    moved.Append("anew");
    EXPECT_EQ("anew", moved.From(0));
    EXPECT_EQ(1u, memory.ranges());
  }
  EXPECT_EQ(0u, memory.ranges());
}

// As buffers of pieces are, whose sizes differ by some hundredths.
TEST(OutputBuffer, WhatIsFilledAgainHasRoomForALittleMore) {
  base::CountedMemory memory;
  OutputBuffer buffer(&memory);
  constexpr size_t kPiece = size_t{20} << 20;
  buffer.Reserve(kPiece);
  const size_t bytes = memory.bytes();
  EXPECT_GE(kPiece * 5 / 4, bytes);
  for (const size_t percent : {98, 105, 100, 110}) {
    char* const at = buffer.Reserve(kPiece / 100 * percent);
    buffer.CommitTo(at + kPiece / 100 * percent);
    EXPECT_EQ(bytes, memory.bytes()) << percent;
    buffer.Clear();
  }
  buffer.Reserve(2 * kPiece);
  EXPECT_LE(2 * kPiece, memory.bytes());
  EXPECT_GE(2 * kPiece * 5 / 4, memory.bytes());
}

}  // namespace
}  // namespace weft::table
