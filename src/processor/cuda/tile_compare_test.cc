// The comparing of keys by tiles on a CPU: every length, at any phase of either side.
#include "processor/cuda/tile_compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "processor/cuda/fiber_warp_test_kit.h"
#include "processor/cuda/table_scene_test_kit.h"
#include "task/table_test_kit.h"
#include "weft/cache.h"

namespace weft::processor::tile {
namespace {

// The lanes of a warp compare keys of lengths in a row; of some one byte differs, within the key
// or beside it.
TEST(TileCompare, KeysDifferWhereAByteWithinThemDoes) {
  if (!kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  constexpr u32 kLanes = 32, kStride = 272;  // bytes
  std::mt19937_64 random(task::TestSeed());
  u32 differing = 0, same = 0;
  for (u32 round = 0; round < 8 * kKeyBytesMax / kLanes; round++) {
    Lines<u8> left(kLanes * kStride + 8), right(kLanes * kStride + 8);
    u64 keys[kLanes] = {}, others[kLanes] = {};
    u32 bytes[kLanes];
    bool differs[kLanes];
    for (u8& byte : left) byte = static_cast<u8>(random());
    for (u8& byte : right) byte = static_cast<u8>(random());
    for (u32 i = 0; i < kLanes; i++) {
      bytes[i] = (round * kLanes + i) % (kKeyBytesMax + 1);  // 0: nothing is compared
      u8* key = &left[i * kStride + random() % 8 + 8];
      u8* other = &right[i * kStride + random() % 8 + 8];
      std::copy_n(key, bytes[i], other);
      differs[i] = bytes[i] != 0 && random() % 2 == 0;
      if (differs[i]) other[random() % 3 == 0 ? bytes[i] - 1 : random() % bytes[i]] ^= 0x10;
      keys[i] = reinterpret_cast<u64>(key);
      others[i] = reinterpret_cast<u64>(other);
    }
    RunFiberWarps(1, 1, random, [&](FiberRing& ring, u32 lane, u32) {
      const FiberWarp warp(ring, lane);
      const u32 different = DifferentKeys(warp, keys[lane], others[lane], bytes[lane]);
      EXPECT_EQ(different >> lane % kTileLanes & 1, differs[lane] ? 1u : 0u) << bytes[lane];
      (differs[lane] ? differing : same)++;
    });
  }
  EXPECT_GT(differing, 500u);
  EXPECT_GT(same, 500u);
}

}  // namespace
}  // namespace weft::processor::tile
