#include "sim/cache/l2_cache.h"

#include <memory>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"

namespace weft::sim {
namespace {

constexpr Time kCycle = 250;

// L2 and the caches of its cores; what L2 sends arrives when the test says.
class L2CacheTest : public testing::Test, public L2Port {
 protected:
  struct Sent {
    L2Request request;
    bool has_data;
    bool from_memory;
    Time when;
  };

  void Build(const L2Options& options, int cores = 8,
             const CacheShape& l1 = {.kilobytes = 1, .ways = 2, .mshrs = 4}) {
    std::vector<L1Cache*> all;
    for (int core = 0; core < cores; ++core) {
      l1s_.push_back(std::make_unique<L1Cache>(l1));
      all.push_back(l1s_.back().get());
    }
    ASSERT_TRUE(Validate(options).ok());
    l2_ = std::make_unique<L2Cache>(options, mesh_, all, this);
  }
  void ToCore(const L2Request& request, bool has_data, bool from_memory, Time when) override {
    sent_.push_back({request, has_data, from_memory, when});
  }
  void ReadLine(const L2Request& request, Time /*now*/) override { reads_.push_back(request.line); }
  void WriteLine(uint64_t line, Time /*now*/) override { writes_.push_back(line); }
  void OnPushed(uint64_t line, Pushed what) override { pushed_.emplace_back(line, what); }

  // The core's access, and what L2 does for it; memory's answer is at once.
  void Do(int core, uint64_t line, bool stores) {
    L1Cache& l1 = *l1s_[static_cast<size_t>(core)];
    Waiter waiter;
    if (stores) waiter.access = Access::kStore;
    if (l1.Start(line, waiter) != L1Cache::Outcome::kMiss) return;
    l2_->Request({.line = line, .core = core, .owns = stores}, 0);
    if (!reads_.empty()) {
      reads_.clear();
      l2_->Fill(line, 0);
    }
    Arrive(core, line);
  }
  void Arrive(int core, uint64_t line) {
    const L1Cache::Filled& filled = l1s_[static_cast<size_t>(core)]->Fill(line);
    if (filled.has_victim) l2_->LeftCore(core, filled.victim, filled.is_victim_modified);
  }
  Time LastCost() const { return sent_.back().when; }

  const Mesh mesh_{MeshOptions{}};
  std::vector<std::unique_ptr<L1Cache>> l1s_;
  std::unique_ptr<L2Cache> l2_;
  std::vector<Sent> sent_;
  std::vector<uint64_t> reads_;
  std::vector<uint64_t> writes_;
  std::vector<std::pair<uint64_t, Pushed>> pushed_;
};

constexpr L2Options kSmall = {.shape = {.kilobytes = 1, .ways = 2, .mshrs = 1}};  // a set a bank

TEST_F(L2CacheTest, TheOwnersLineCostsTheAskerItsWay) {
  Build({});
  Do(0, 8, true);
  Do(3, 8, false);
  EXPECT_EQ(LastCost(), 18 * kCycle);
  EXPECT_TRUE(sent_.back().has_data);
  EXPECT_EQ(l2_->counts().remote_hits, 1);
  // Both share it now.
  Do(5, 8, false);
  EXPECT_EQ(LastCost(), 0);
  EXPECT_TRUE(l1s_[0]->Has(8));
  // Line 8 is of the bank at node 0; of those who share it core 5 is furthest, two hops.
  Do(3, 8, true);
  EXPECT_EQ(LastCost(), 2 * 2 * 4 * kCycle);
  EXPECT_FALSE(sent_.back().has_data);
  EXPECT_FALSE(l1s_[0]->Has(8));
  EXPECT_FALSE(l1s_[5]->Has(8));
  Do(4, 8, true);
  EXPECT_EQ(LastCost(), 18 * kCycle);
  EXPECT_FALSE(l1s_[3]->Has(8));
  EXPECT_EQ(l2_->counts().invalidations, 3);
}

TEST_F(L2CacheTest, ALineThatLeavesLeavesTheCoresToo) {
  Build(kSmall, 2);
  Do(0, 0, true);
  Do(1, 8, false);
  Do(1, 16, false);
  EXPECT_FALSE(l1s_[0]->Has(0));
  EXPECT_EQ(writes_, (std::vector<uint64_t>{0}));
  Do(1, 24, false);
  EXPECT_FALSE(l1s_[1]->Has(8));
  EXPECT_EQ(writes_.size(), 1u);  // it was clean
}

TEST_F(L2CacheTest, WhatCoresChangedIsDirtyOnceTheyDropIt) {
  Build(kSmall, 1, {.kilobytes = 1, .ways = 1, .mshrs = 4});
  Do(0, 0, true);
  Do(0, 16, false);  // the same place of L1
  Do(0, 8, false);
  Do(0, 24, false);
  EXPECT_EQ(writes_, (std::vector<uint64_t>{0}));
}

TEST_F(L2CacheTest, ABankKeepsWaitingWhatFindsNoMshr) {
  Build(kSmall, 3);
  for (int core = 0; core < 3; ++core) {
    const uint64_t line = core == 2 ? 8 : 8 * static_cast<uint64_t>(core);
    l1s_[static_cast<size_t>(core)]->Start(line, {});
    l2_->Request({.line = line, .core = core}, 0);
  }
  EXPECT_EQ(reads_, (std::vector<uint64_t>{0}));
  EXPECT_EQ(l2_->pending(), 3);
  EXPECT_EQ(l2_->counts().waited_for_mshr, 2);
  l2_->Fill(0, 100);
  EXPECT_EQ(reads_, (std::vector<uint64_t>{0, 8}));
  l2_->Fill(8, 200);
  EXPECT_EQ(l2_->pending(), 0);
  ASSERT_EQ(sent_.size(), 3u);
  EXPECT_EQ(l2_->counts().misses, 2);
  EXPECT_EQ(l2_->counts().joined_misses, 1);
  l2_->Fill(8, 300);  // nobody waits
  EXPECT_EQ(sent_.size(), 3u);
}

TEST_F(L2CacheTest, APushedLineIsMarkedUntilItIsUsed) {
  Build(kSmall, 1);
  l2_->Push(0, 0);
  l2_->Push(0, 0);
  EXPECT_EQ(pushed_.back(), std::make_pair(uint64_t{0}, Pushed::kHadIt));
  Do(0, 0, false);
  EXPECT_EQ(pushed_.back(), std::make_pair(uint64_t{0}, Pushed::kUsed));
  EXPECT_FALSE(sent_.back().from_memory);
  l2_->Push(8, 0);
  l2_->Push(16, 0);
  l2_->Push(24, 0);
  EXPECT_EQ(pushed_.back(), std::make_pair(uint64_t{8}, Pushed::kUnused));
  l2_->DropPushed();
  EXPECT_EQ(pushed_.size(), 5u);
  // One for a miss under way ends it.
  l1s_[0]->Start(1, {});
  l2_->Request({.line = 1}, 0);
  l2_->Push(1, 500);
  EXPECT_EQ(pushed_.back(), std::make_pair(uint64_t{1}, Pushed::kMetMiss));
  EXPECT_EQ(sent_.back().when, 500);
  EXPECT_EQ(l2_->pending(), 0);
}

// Lines of a set of two ways, 16 apart: what was passed over is there, dirty if it was written, and
// known to the shadow that has no pushed lines.
TEST_F(L2CacheTest, WhatIsPassedOverIsThere) {
  Build({.shape = {.kilobytes = 2, .ways = 2, .mshrs = 2}, .has_shadow = true}, 1);
  l2_->PassOver(0, true);
  l2_->PassOver(16, false);
  l2_->PassOver(0, false);  // used last, and still dirty
  l2_->EndPassOver();
  EXPECT_TRUE(l2_->Has(0) && l2_->Has(16));
  l2_->Push(32, 0);  // 16 leaves
  l2_->Push(48, 0);  // 0 does
  EXPECT_THAT(writes_, testing::ElementsAre(0));
  Do(0, 16, false);
  EXPECT_EQ(l2_->counts().lost_hits, 1);
  EXPECT_EQ(l2_->counts().misses, 1);
}

// Random accesses, some of which are on their way for a while: at any time one core at most may
// change a line, and then no other has it, and L2 has whatever a core has.
TEST_F(L2CacheTest, NeverTwoOwnersAndAlwaysInclusive) {
  Build({.shape = {.kilobytes = 2, .ways = 2, .mshrs = 2}}, 8);
  std::mt19937_64 random(base::TestSeed());
  for (int step = 0; step < 20'000; ++step) {
    const int core = static_cast<int>(random() % 8);
    const uint64_t line = random() % 64;
    const bool stores = random() % 3 == 0;
    Waiter waiter;
    if (stores) waiter.access = Access::kStore;
    if (l1s_[static_cast<size_t>(core)]->Start(line, waiter) == L1Cache::Outcome::kMiss) {
      l2_->Request({.line = line, .core = core, .owns = stores}, 0);
    }
    while (reads_.size() > random() % 4) {
      const uint64_t read = reads_.front();
      reads_.erase(reads_.begin());
      l2_->Fill(read, 0);
    }
    if (random() % 8 == 0) l2_->Push(random() % 64, 0);
    while (sent_.size() > random() % 4) {
      const Sent sent = sent_.front();
      sent_.erase(sent_.begin());
      Arrive(sent.request.core, sent.request.line);
    }
    for (const uint64_t other : {line, random() % 64}) {
      int holders = 0;
      for (const auto& l1 : l1s_) holders += l1->Has(other);
      if (holders > 0) {
        ASSERT_TRUE(l2_->Has(other)) << step;
      }
      for (const auto& l1 : l1s_) {
        if (l1->Owns(other)) {
          ASSERT_EQ(holders, 1) << step;
        }
      }
    }
  }
  while (l2_->pending() > 0) {
    const uint64_t read = reads_.front();
    reads_.erase(reads_.begin());
    l2_->Fill(read, 0);
  }
  for (const Sent& sent : sent_) Arrive(sent.request.core, sent.request.line);
  for (const auto& l1 : l1s_) EXPECT_EQ(l1->under_way(), 0);
}

}  // namespace
}  // namespace weft::sim
