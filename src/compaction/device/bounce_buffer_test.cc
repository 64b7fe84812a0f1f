#include "compaction/device/bounce_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>

namespace weft::compaction::device {
namespace {

class CountedMemory final : public base::BufferMemory {
 public:
  char* Allocate(size_t bytes) override {
    char* const at = new char[bytes];  // freed by Free
    ranges_[at] = bytes;
    taken_++;
    return at;
  }
  void Free(char* at, size_t bytes) override {
    EXPECT_EQ(bytes, ranges_[at]);
    ranges_.erase(at);
    delete[] at;
  }
  size_t ranges() const { return ranges_.size(); }
  int taken() const { return taken_; }

 private:
  std::map<char*, size_t> ranges_;
  int taken_ = 0;
};

TEST(BounceBuffer, GivesEachRoomOfItsOwn) {
  CountedMemory memory;
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
    const int taken = memory.taken();
    buffer.Take(100);
    EXPECT_EQ(taken, memory.taken()) << "what was cleared is taken again";
  }
  EXPECT_EQ(0u, memory.ranges());
}

TEST(BounceBuffer, GivesRoomOfNoBytes) {
  CountedMemory memory;
  BounceBuffer buffer(&memory);
  EXPECT_NE(nullptr, buffer.Take(0));
}

}  // namespace
}  // namespace weft::compaction::device
