// The copying of records on a CPU: every length at every phase, with and without others beside it,
// against plain copies. What is read and written beyond a record is seen.
#include "processor/cuda/tile_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "processor/cuda/fiber_warp_test_kit.h"
#include "processor/cuda/table_scene_test_kit.h"
#include "task/table_test_kit.h"

namespace weft::processor::tile {
namespace {

constexpr u64 kCanary = 0xc5c5c5c5c5c5c5c5u;
constexpr u32 kValueBytesMax = 2000;

// FiberWarp that knows which words may be read.
class WatchedWarp : public FiberWarp {
 public:
  using FiberWarp::FiberWarp;

  static u64 Load(const void* at) {
    Look(at, 1);
    return FiberWarp::Load(at);
  }
  static Words2 Load2(const void* at) {
    Look(at, 2);
    return FiberWarp::Load2(at);
  }
  static u64 LoadOnce(const u64* at) { return Load(at); }

  // From now on the words of `source` whose `allowed` is set.
  static void Watch(const Lines<u64>& source, const std::vector<bool>& allowed) {
    source_ = source.data();
    allowed_ = &allowed;
    strayed_ = 0;
  }
  static u32 strayed() { return strayed_; }

 private:
  static void Look(const void* at, u64 words) {
    const u64 first = static_cast<u64>(static_cast<const u64*>(at) - source_);
    for (u64 word = first; word < first + words; word++)
      if (word >= allowed_->size() || !(*allowed_)[word]) strayed_++;
  }

  static inline const u64* source_ = nullptr;
  static inline const std::vector<bool>* allowed_ = nullptr;
  static inline u32 strayed_ = 0;
};

// What the 32 lanes of a warp are to copy, and where to.
struct Copying {
  Lines<u64> source, target;
  std::vector<bool> allowed;  // words of `source`
  Record records[kWarpLanes];
};

// Lane i's value begins `phases[i]` bytes past a multiple of 16; what is not asked for takes none.
void Draw(Copying& copying, const u32 (&bytes)[kWarpLanes], const u32 (&phases)[kWarpLanes],
          u32 asked, u32 room_over, std::mt19937_64& random) {
  constexpr u64 kWordsEach = (kValueBytesMax + 64) / 8 + 8;
  copying.source.resize(kWarpLanes * kWordsEach);
  copying.target.assign(kWarpLanes * kWordsEach, kCanary);
  copying.allowed.assign(copying.source.size(), false);
  for (u64& word : copying.source) word = random();
  u64 to = 2 * (random() % 4);
  for (u32 i = 0; i < kWarpLanes; i++) {
    Record& record = copying.records[i];
    record = Record();
    record.value = reinterpret_cast<const u8*>(&copying.source[i * kWordsEach + 2]) + phases[i];
    record.header = u64{bytes[i]} << 32 | (random() & 0xffff);
    record.to = reinterpret_cast<u8*>(&copying.target[to]);
    if ((asked >> i & 1) == 0) continue;
    record.units = 1 + (bytes[i] + 7) / 8;
    record.room = PaddedUnits(record.units) + room_over * 4;
    to += record.room + 2 * (random() % 2);
    // The word before the value is its object's, too, and where the value is 8 past a multiple of
    // 16 so is the one behind.
    const u64 begin = i * kWordsEach + 2 + phases[i] / 8;
    const u64 end = i * kWordsEach + 2 + (phases[i] + bytes[i] + 7) / 8;
    for (u64 word = begin - 1; word < end + (phases[i] == 8 ? 1 : 0); word++)
      copying.allowed[word] = true;
  }
}

std::string Wrong(const Copying& copying) {
  if (WatchedWarp::strayed() != 0) return "words of others are read";
  std::vector<bool> written(copying.target.size(), false);
  for (u32 i = 0; i < kWarpLanes; i++) {
    const Record& record = copying.records[i];
    if (record.units == 0) continue;
    const u64* to = reinterpret_cast<const u64*>(record.to);
    const std::string name = "record " + std::to_string(i);
    if (*to != record.header) return name + ": its header";
    if (std::memcmp(to + 1, record.value, record.header >> 32) != 0) return name + ": its value";
    const u64 first = static_cast<u64>(to - copying.target.data());
    std::fill_n(written.begin() + static_cast<long>(first), record.room, true);
  }
  for (u64 word = 0; word < written.size(); word++)
    if (!written[word] && copying.target[word] != kCanary) return "words beside the records";
  return "";
}

void CopyOnFibers(const Copying& copying, bool list, std::mt19937_64& random) {
  RecordList shared;
  WatchedWarp::Watch(copying.source, copying.allowed);
  RunFiberWarps(1, 1, random, [&](FiberRing& ring, u32 lane, u32) {
    const WatchedWarp warp(ring, lane);
    if (list) {
      ListRecords(warp, copying.records[lane], &shared);
    } else {
      CopyRecords(warp, copying.records[lane]);
    }
  });
  constexpr u32 kLanes = 3 * kWarpLanes;
  for (u32 lane = 0; list && lane < kLanes; lane++) CopyListed<WatchedWarp>(shared, lane, kLanes);
}

// Every phase beside every other, the lengths one after the other. Rows of a warp, which take the
// fibers long, share what copies a pair with those of a list: some lengths will do.
TEST(TileCopy, EveryLengthAtEveryPhase) {
  if (!kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  Copying copying;
  u32 lengths[kWarpLanes], phases[kWarpLanes];
  for (u32 begin = 0; begin <= kValueBytesMax; begin += 2) {
    for (u32 i = 0; i < kWarpLanes; i++) {
      lengths[i] = begin + i / 16;
      phases[i] = i % 16;
    }
    std::swap(phases[random() % kWarpLanes], phases[random() % kWarpLanes]);
    for (const bool list : {false, true}) {
      if (!list && begin > 80 && begin % 62 != 0) continue;
      const u32 asked = begin % 64 == 0 ? 0xffffffffu : static_cast<u32>(random());
      Draw(copying, lengths, phases, asked, 0, random);
      CopyOnFibers(copying, list, random);
      ASSERT_EQ(Wrong(copying), "") << "lengths from " << begin << ", list " << list;
    }
  }
}

// Records of tiles and of rows, of lengths that differ, and with more room than they need.
TEST(TileCopy, MixedLengths) {
  if (!kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  Copying copying;
  u32 lengths[kWarpLanes], phases[kWarpLanes];
  for (u32 round = 0; round < 60; round++) {
    const u32 bytes_max = round % 3 == 0 ? 8 : round % 3 == 1 ? 100 : kValueBytesMax;
    for (u32 i = 0; i < kWarpLanes; i++) {
      lengths[i] = static_cast<u32>(random() % (bytes_max + 1));
      phases[i] = round % 2 == 0 ? 8 : static_cast<u32>(random() % 16);
    }
    for (const bool list : {false, true}) {
      Draw(copying, lengths, phases, static_cast<u32>(random() | random()), round % 5 / 3, random);
      CopyOnFibers(copying, list, random);
      ASSERT_EQ(Wrong(copying), "") << "round " << round << ", list " << list;
    }
  }
}

TEST(TileCopy, NothingToCopy) {
  if (!kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  Copying copying;
  const u32 lengths[kWarpLanes] = {}, phases[kWarpLanes] = {};
  for (const bool list : {false, true}) {
    Draw(copying, lengths, phases, 0, 0, random);
    CopyOnFibers(copying, list, random);
    EXPECT_EQ(Wrong(copying), "");
  }
}

}  // namespace
}  // namespace weft::processor::tile
