#include "lsm/block_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "lsm/arena.h"

namespace weft::lsm {
namespace {

TEST(BlockPool, GivesBackWhatItKept) {
  BlockPool pool(2);
  std::set<char*> first;
  for (int i = 0; i < 3; ++i) {
    char* block = pool.Take();
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % BlockPool::kBlockBytes, 0u);
    std::memset(block, i, BlockPool::kBlockBytes);
    ASSERT_TRUE(first.insert(block).second);
  }
  for (char* block : first) pool.Give(block);  // the third goes
  std::vector<char*> second = {pool.Take(), pool.Take()};
  for (char* block : second) {
    EXPECT_TRUE(first.contains(block));
    pool.Give(block);
  }
}

TEST(BlockPool, ServesArenasOneAfterTheOther) {
  const auto pool = std::make_shared<BlockPool>(4);
  for (int round = 0; round < 3; ++round) {
    Arena arena(pool);
    std::vector<char*> pieces;
    for (size_t i = 0; i < 6 * BlockPool::kBlockBytes / 1000; ++i) {
      pieces.push_back(arena.Allocate(1000));
      std::memset(pieces.back(), static_cast<int>(i % 251), 1000);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_EQ(pieces[i][0], static_cast<char>(i % 251));
      ASSERT_EQ(pieces[i][999], static_cast<char>(i % 251));
    }
  }
}

}  // namespace
}  // namespace weft::lsm
