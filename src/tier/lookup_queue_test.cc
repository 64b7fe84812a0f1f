// Threads   one.
#include "tier/lookup_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tier/mailbox.h"

namespace weft::tier {
namespace {

class LookupQueueTest : public testing::Test {
 protected:
  void Add(uint64_t id, uint64_t finish = 0) {
    queue_.Add(id, std::make_unique<Lookup>(), &home_, finish);
  }

  Mailbox home_{[] {}};
  LookupQueue queue_;
};

TEST_F(LookupQueueTest, NewcomersGoInTheirOrder) {
  for (uint64_t id : {7, 3, 9}) Add(id);
  for (uint64_t id : {7, 3, 9}) {
    const LookupQueue::Job job = queue_.Take();
    EXPECT_EQ(job.id, id);
    EXPECT_EQ(job.home, &home_);
    EXPECT_NE(job.lookup, nullptr);
  }
  EXPECT_TRUE(queue_.empty());
}

// A hundred whose lookups cost a thousand times as much as those of one more, which asks again
// three jobs after its answer: it goes before nearly all.
TEST_F(LookupQueueTest, WhoeverTakesLittleIsServedBeforeThoseThatTakeMuch) {
  constexpr uint64_t kHeavy = 100, kHeavyCost = 1'000'000, kLightCost = 1'000;
  for (uint64_t id = 0; id < kHeavy; id++) Add(id);
  std::vector<int> ran(kHeavy + 1);
  int asked = 200, waited = 0, most_waited = 0;
  uint64_t light_finish = 0;
  for (int turn = 0; turn < 5000; turn++) {
    if (turn == asked) Add(kHeavy, light_finish);
    const LookupQueue::Job job = queue_.Take();
    ran[job.id]++;
    if (job.id == kHeavy) {
      most_waited = std::max(most_waited, turn - asked);
      waited += turn - asked;
      asked = turn + 3;
      light_finish = queue_.Ran(job.start, kLightCost);
    } else {
      Add(job.id, queue_.Ran(job.start, kHeavyCost + turn * 7919 % 1000 * 1000));
    }
  }
  EXPECT_GT(ran[kHeavy], 1000);
  EXPECT_LT(waited, ran[kHeavy]) << "less than one job each time";
  EXPECT_LE(most_waited, 200) << "the first time, when it is new as well";
  for (uint64_t id = 0; id < kHeavy; id++) EXPECT_NEAR(ran[id], ran[0], 5);
}

TEST_F(LookupQueueTest, WhoeverWasAwayHasSavedNothing) {
  Add(1);
  Add(2);
  const uint64_t finish = queue_.Ran(queue_.Take().start, 1'000);
  Add(1, finish + 1'000'000);
  EXPECT_EQ(queue_.Take().id, 2u);
  EXPECT_EQ(queue_.Take().id, 1u);  // so late is it now
  Add(2, finish);
  EXPECT_EQ(queue_.Take().start, finish + 1'000'000);
}

// Twenty wait at any time, each of them new. One that asks again and again has its turn.
TEST_F(LookupQueueTest, NewcomersKeepNobodyWaitingForLong) {
  constexpr uint64_t kRegular = 1, kCost = 2'000'000;
  uint64_t next = 2, finish = 0, before = 0, most_before = 0;
  for (int i = 0; i < 20; i++) Add(next++);
  Add(kRegular);
  for (int turn = 0; turn < 1000; turn++, before++) {
    const LookupQueue::Job job = queue_.Take();
    const uint64_t ran = queue_.Ran(job.start, kCost);
    if (job.id != kRegular) {
      Add(next++);
      continue;
    }
    finish = ran;
    most_before = std::max(most_before, before);
    before = 0;
    Add(kRegular, finish);
  }
  EXPECT_LE(most_before, 45u);
}

// One get of many keys among single ones.
TEST_F(LookupQueueTest, OneLargeJobSetsItsAskerBackByAFewRounds) {
  constexpr uint64_t kOthers = 100, kCost = LookupQueue::kKeyBytes;
  for (uint64_t id = 0; id <= kOthers; id++) Add(id);
  uint64_t rounds = 0, before = 0;
  for (int turn = 0; turn < 20'000; turn++, before++) {
    const LookupQueue::Job job = queue_.Take();
    const bool is_large = job.id == kOthers;
    if (is_large) rounds = std::max(rounds, before / kOthers);
    if (is_large) before = 0;
    Add(job.id, queue_.Ran(job.start, is_large ? 128 * kCost : kCost));
  }
  EXPECT_GT(rounds, 4u);
  EXPECT_LT(rounds, 2 * LookupQueue::kMeansMax);
}

// Gets of many keys by a few, then single ones by many: whoever had its large job before, and
// whoever is new, waits a few rounds of single ones.
TEST_F(LookupQueueTest, WhatWasChargedForLargeJobsIsNotHeldAgainstTheirAskersAmongSmallOnes) {
  constexpr uint64_t kSingles = 400, kCost = LookupQueue::kKeyBytes, kLargeCost = 400 * kCost;
  constexpr uint64_t kLarge = kSingles, kNew = kSingles + 8;
  std::vector<uint64_t> finish(kSingles);
  for (uint64_t id = 0; id < kSingles; id++) Add(id);
  while (!queue_.empty()) {
    const LookupQueue::Job job = queue_.Take();
    finish[job.id] = queue_.Ran(job.start, kCost);
  }
  for (uint64_t id = kLarge; id < kNew; id++) Add(id);
  for (int turn = 0; turn < 1000; turn++) {
    const LookupQueue::Job job = queue_.Take();
    Add(job.id, queue_.Ran(job.start, kLargeCost));
  }
  for (uint64_t id = 0; id < kSingles; id++) Add(id, finish[id]);
  Add(kNew);
  std::vector<uint64_t> came(kNew + 1, 0);
  for (uint64_t turn = 0; turn < 100'000; turn++) {
    const LookupQueue::Job job = queue_.Take();
    if (job.id >= kSingles) {
      EXPECT_LE(turn - came[job.id], 2 * LookupQueue::kMeansMax * kSingles) << job.id;
      came[job.id] = turn;
    }
    if (job.id != kNew) Add(job.id, queue_.Ran(job.start, job.id < kSingles ? kCost : kLargeCost));
  }
  for (uint64_t id = kLarge; id <= kNew; id++) EXPECT_NE(came[id], 0u) << id;
}

TEST_F(LookupQueueTest, WhatCostsNothingMovesOnToo) {
  Add(1);
  for (int turn = 0; turn < 100; turn++) {
    const LookupQueue::Job job = queue_.Take();
    const uint64_t finish = queue_.Ran(job.start, 0);
    EXPECT_GT(finish, job.start);
    Add(1, finish);
  }
}

TEST_F(LookupQueueTest, AJobCostsWhatWasLookedUpAndFound) {
  Lookup lookup;
  for (const char* key : {"absent", "present", "left"}) lookup.Add(key, 1);
  EXPECT_EQ(LookupQueue::CostOf(lookup), 0u);
  lookup.asked()[0].answered = Answered::kAbsent;
  lookup.asked()[1].answered = Answered::kItem;
  lookup.asked()[1].bytes = std::string(1000, 'x');
  EXPECT_EQ(LookupQueue::CostOf(lookup), 2 * LookupQueue::kKeyBytes + 1000);
}

TEST_F(LookupQueueTest, WhatIsForgottenIsNotTaken) {
  Mailbox other([] {});
  for (uint64_t id : {1, 2, 3}) Add(id);
  queue_.Add(2, std::make_unique<Lookup>(), &other, 0);
  EXPECT_NE(queue_.Forget(2, &home_), nullptr);
  EXPECT_EQ(queue_.Forget(2, &home_), nullptr);
  EXPECT_EQ(queue_.Forget(9, &home_), nullptr);
  EXPECT_EQ(queue_.size(), 3u);
  EXPECT_EQ(queue_.Take().id, 1u);
  EXPECT_EQ(queue_.Forget(1, &home_), nullptr);  // it is at work
  EXPECT_EQ(queue_.Take().id, 3u);
  EXPECT_EQ(queue_.Take().home, &other);
  EXPECT_TRUE(queue_.empty());
  Add(2);
  EXPECT_EQ(queue_.Take().id, 2u);
}

}  // namespace
}  // namespace weft::tier
