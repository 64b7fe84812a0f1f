#include "cache/holes.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/random.h"
#include "base/seed_test_kit.h"

namespace weft::cache {
namespace {

constexpr size_t kGroup = 64;
constexpr uint64_t kPlenty = 1 << 20;

// Keeps holes whose location is their version, in groups that ripen at once.
void KeepGroup(Holes* holes, Epochs* epochs, uint64_t first, uint32_t units = 11,
               Generation generation = Generation::kYoung) {
  for (uint64_t i = first; i < first + kGroup; i++)
    EXPECT_TRUE(holes->Keep({i, i, units, generation}));
  holes->Ripen(epochs);
}

uint64_t Taken(Holes* holes, uint32_t units = 11) {
  return holes->Take(units, Generation::kYoung).location;
}

TEST(Holes, AreTakenOnceAndTheLastFirst) {
  Epochs epochs;
  HoleBudget budget(kPlenty);
  Holes holes(&budget);
  for (uint64_t first = 1; first < 20 * kGroup; first += kGroup) KeepGroup(&holes, &epochs, first);
  EXPECT_EQ(holes.NextLocation(11, Generation::kYoung), 20 * kGroup);
  for (uint64_t location = 20 * kGroup; location != 0; location--) {
    EXPECT_FALSE(holes.empty());
    EXPECT_EQ(Taken(&holes), location);
  }
  EXPECT_TRUE(holes.empty());
  EXPECT_EQ(Taken(&holes), 0u);
  EXPECT_EQ(holes.NextLocation(11, Generation::kYoung), 0u);
}

TEST(Holes, WaitUntilNoBatchSeesThem) {
  Epochs epochs;
  Epochs::Slot* const slot = epochs.Claim();
  HoleBudget budget(kPlenty);
  Holes holes(&budget);
  epochs.Enter(slot);
  KeepGroup(&holes, &epochs, 1);
  EXPECT_EQ(Taken(&holes), 0u);
  KeepGroup(&holes, &epochs, 1000);
  EXPECT_EQ(Taken(&holes), 0u);
  epochs.Exit(slot);
  epochs.Enter(slot);
  KeepGroup(&holes, &epochs, 2000);  // these wait
  std::set<uint64_t> all;
  while (const uint64_t location = Taken(&holes)) all.insert(location);
  EXPECT_EQ(all.size(), 2 * kGroup);
  EXPECT_LT(*all.rbegin(), 2000u);
  EXPECT_FALSE(holes.empty());
  epochs.Exit(slot);
}

TEST(Holes, AreOfOneSizeAndGeneration) {
  Epochs epochs;
  HoleBudget budget(kPlenty);
  Holes holes(&budget);
  for (uint32_t units = 1; units <= 4; units++) KeepGroup(&holes, &epochs, units * 1000, units);
  KeepGroup(&holes, &epochs, 9000, 2, Generation::kMain);
  for (uint32_t units = 1; units <= 4; units++) EXPECT_EQ(Taken(&holes, units) / 1000, units);
  EXPECT_EQ(holes.Take(2, Generation::kMain).location / 1000, 9u);
  EXPECT_EQ(holes.Take(3, Generation::kMain).location, 0u);
  EXPECT_EQ(Taken(&holes, 5), 0u);
  EXPECT_FALSE(holes.Keep({1, 1, Holes::kUnitsMax + 1, Generation::kYoung}));
  EXPECT_EQ(Taken(&holes, Holes::kUnitsMax + 1), 0u);
}

TEST(Holes, ShareABudget) {
  HoleBudget budget(10'000);
  const auto keep = [](Holes* holes) {
    uint64_t kept = 0;
    while (holes->Keep({kept + 1, 1, 11, Generation::kYoung})) kept++;
    return kept;
  };
  uint64_t by_one = 0;
  {
    Holes one(&budget), two(&budget);
    by_one = keep(&one);
    EXPECT_GT(by_one, 600u);  // of 11 units, and of 4 more in a list
    EXPECT_LE(by_one + keep(&two), 10'000u / 15);
    EXPECT_NE(one.TakeAny().location, 0u);
    EXPECT_TRUE(one.Keep({1, 1, 11, Generation::kYoung})) << "there is room for it again";
    while (!one.empty()) one.TakeAny();
    EXPECT_GT(keep(&two), 500u) << "whoever has none gives back";
  }
  Holes three(&budget);
  EXPECT_EQ(keep(&three), by_one) << "whoever goes gives back";
}

// Of any size, ripe, waiting or fresh, whatever else happens between.
TEST(Holes, AllCanBeTakenToBeGivenUp) {
  Epochs epochs;
  Epochs::Slot* const slot = epochs.Claim();
  HoleBudget budget(kPlenty);
  base::Random random(base::TestSeed(3));
  for (int round = 0; round < 200; round++) {
    Holes holes(&budget);
    std::set<uint64_t> held;
    const auto take = [&](const Hole& hole) {
      if (hole.location != 0) {
        EXPECT_EQ(held.erase(hole.location), 1u);
      }
    };
    bool inside = false;
    for (uint64_t i = 1; i < 1000; i++) {
      const uint64_t what = random.Below(100);
      if (what < 60) {
        held.insert(i);
        EXPECT_TRUE(holes.Keep({i, i, static_cast<uint32_t>(random.Below(4)), Generation::kMain}));
      } else if (what < 80) {
        take(holes.Take(static_cast<uint32_t>(random.Below(4)), Generation::kMain));
      } else if (what < 90) {
        take(holes.TakeAny());
      } else if (what < 98) {
        holes.Ripen(&epochs);
      } else if (std::exchange(inside, !inside)) {
        epochs.Exit(slot);
      } else {
        epochs.Enter(slot);
      }
      EXPECT_EQ(holes.empty(), held.empty());
    }
    while (!holes.empty()) take(holes.TakeAny());
    EXPECT_TRUE(held.empty());
    EXPECT_EQ(holes.TakeAny().location, 0u);
    if (inside) epochs.Exit(slot);
  }
}

}  // namespace
}  // namespace weft::cache
