#include "compaction/device/bounce_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>

#include "base/counted_memory_test_kit.h"

namespace weft::compaction::device {
namespace {

TEST(BounceBuffer, GivesEachRoomOfItsOwn) {
  base::CountedMemory memory;
  {
    BounceBuffer buffer(&memory);
    for (int round = 0; round < 3; round++) {
      std::map<char*, size_t> rooms;
      for (size_t i = 1; i < 300; i++) {
        const size_t bytes = i % 50 == 0 ? i << 14 : i * 37;  // some beyond a chunk
        char* const at = buffer.Take(bytes);
        EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(at) % 16);
        std::memset(at, static_cast<int>(i % 128), bytes);
        rooms[at] = bytes;
      }
      const char* behind = nullptr;
      for (const auto& [at, bytes] : rooms) {
        EXPECT_LE(behind, at);
        behind = at + bytes;
      }
      buffer.Clear();
    }
    const int taken = memory.times_given();
    buffer.Take(100);
    EXPECT_EQ(taken, memory.times_given()) << "what was cleared is taken again";
  }
  EXPECT_EQ(0u, memory.ranges());
}

TEST(BounceBuffer, GivesRoomOfNoBytes) {
  base::CountedMemory memory;
  BounceBuffer buffer(&memory);
  EXPECT_NE(nullptr, buffer.Take(0));
}

}  // namespace
}  // namespace weft::compaction::device
