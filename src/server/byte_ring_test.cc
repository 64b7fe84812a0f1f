#include "server/byte_ring.h"

#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace weft::server {
namespace {

std::string ReadAll(ByteRing* ring) {
  std::string text(ring->readable(), '\0');
  ring->Read(text.data(), text.size());
  return text;
}

TEST(ByteRing, KeepsWholeWritesInOrder) {
  ByteRing ring(8);
  EXPECT_TRUE(ring.Write({"ab", "", "cde"}));
  EXPECT_FALSE(ring.Write({"fg", "hi"})) << "one byte too many";
  EXPECT_EQ(ring.readable(), 5u) << "nothing of what did not fit";
  EXPECT_TRUE(ring.Write({"fgh"}));
  EXPECT_FALSE(ring.Write({"i"}));
  EXPECT_TRUE(ring.Write({})) << "nothing fits always";
  char front[3];
  ring.Peek(1, front, sizeof front);
  EXPECT_EQ(std::string(front, sizeof front), "bcd");
  ring.Drop(6);
  EXPECT_TRUE(ring.Write({"ijk", "lmn"})) << "over the end";
  EXPECT_EQ(ReadAll(&ring), "ghijklmn");
  EXPECT_EQ(ring.written(), 14u);
}

// What one thread writes, in pieces of any length, another reads.
TEST(ByteRing, TwoThreads) {
  constexpr uint32_t kBytes = 1'000'000;
  ByteRing ring(1000);
  std::thread writer([&] {
    std::mt19937 random(1);
    uint8_t next = 0;
    for (uint32_t written = 0; written < kBytes;) {
      std::string front, back;
      for (uint32_t n = random() % 100; n != 0; n--) front += static_cast<char>(next++);
      for (uint32_t n = random() % 100; n != 0; n--) back += static_cast<char>(next++);
      while (!ring.Write({front, back})) std::this_thread::yield();
      written += static_cast<uint32_t>(front.size() + back.size());
    }
  });
  uint8_t expected = 0;
  uint32_t wrong = 0;
  for (uint32_t read = 0; read < kBytes;) {
    const std::string text = ReadAll(&ring);
    if (text.empty()) std::this_thread::yield();
    for (const char c : text) wrong += static_cast<uint8_t>(c) == expected++ ? 0 : 1;
    read += static_cast<uint32_t>(text.size());
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace weft::server
