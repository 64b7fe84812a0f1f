#include "lsm/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/seed_test_kit.h"

namespace weft::lsm {
namespace {

TEST(Arena, PiecesDoNotOverlapAndAreAligned) {
  Arena arena;
  std::mt19937_64 random(base::TestSeed(1));
  std::vector<std::pair<char*, size_t>> pieces;
  for (int i = 0; i < 20000; ++i) {
    const size_t bytes = 1 + (i % 500 == 0 ? random() % 100000 : random() % 300);
    const bool aligned = random() % 2 == 0;
    char* piece = aligned ? arena.AllocateAligned(bytes) : arena.Allocate(bytes);
    if (aligned) {
      ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % Arena::kLineBytes, 0u);
    }
    std::memset(piece, i % 251, bytes);
    pieces.emplace_back(piece, bytes);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [piece, bytes] = pieces[i];
    for (size_t at = 0; at < bytes; ++at) ASSERT_EQ(piece[at], static_cast<char>(i % 251));
  }
}

TEST(Arena, CountsWhatItTook) {
  Arena arena;
  EXPECT_EQ(arena.MemoryUsage(), 0u);
  arena.Allocate(1);
  EXPECT_EQ(arena.MemoryUsage(), Arena::kChunkBytesMin);
  size_t bytes = 1;
  while (bytes < (size_t{64} << 20)) {
    arena.Allocate(100);
    bytes += 100;
    ASSERT_LE(arena.MemoryUsage(), bytes + bytes / 40 + 2 * Arena::kChunkBytesMin);
    ASSERT_GE(arena.MemoryUsage(), bytes);
  }
  const size_t before = arena.MemoryUsage();
  arena.Allocate(size_t{10} << 20);
  EXPECT_EQ(arena.MemoryUsage(), before + (size_t{10} << 20));
}

TEST(Arena, ThreadsTakeDistinctPieces) {
  constexpr int kThreads = 12;  // more than there are shards
  constexpr int kPieces = 5000;
  Arena arena;
  std::vector<std::vector<uint64_t*>> pieces(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&arena, &mine = pieces[static_cast<size_t>(t)], t] {
      for (int i = 0; i < kPieces; ++i) {
        auto* piece = reinterpret_cast<uint64_t*>(arena.AllocateAligned(sizeof(uint64_t)));
        *piece = static_cast<uint64_t>(t) << 32 | static_cast<uint64_t>(i);
        mine.push_back(piece);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t t = 0; t < kThreads; ++t) {
    for (uint64_t i = 0; i < kPieces; ++i) ASSERT_EQ(*pieces[t][i], t << 32 | i);
  }
}

}  // namespace
}  // namespace weft::lsm
