// Threads   one.
#include "tier/lookup_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// A hundred whose lookups take a thousand times as long as those of one more: it goes next, and has
// no more time than each of them.
TEST_F(LookupQueueTest, WhoeverTakesLittleIsServedBeforeThoseThatTakeMuch) {
  constexpr uint64_t kHeavy = 100, kHeavyNs = 1'000'000, kLightNs = 1'000;
  for (uint64_t id = 0; id < kHeavy; id++) Add(id);
  std::vector<uint64_t> had(kHeavy + 1);
  uint64_t most_before_light = 0, before_light = 0;
  bool light_waits = false;
  uint64_t light_finish = 0;
  for (int turn = 0; turn < 5000; turn++) {
    if (turn >= 150 && !light_waits) {
      Add(kHeavy, light_finish);
      light_waits = true;
      before_light = 0;
    }
    const LookupQueue::Job job = queue_.Take();
    const uint64_t ns = job.id == kHeavy ? kLightNs : kHeavyNs;
    had[job.id] += ns;
    if (job.id == kHeavy) {
      light_waits = false;
      light_finish = queue_.Ran(job.start, ns);
      most_before_light = std::max(most_before_light, before_light);
    } else {
      before_light++;
      Add(job.id, queue_.Ran(job.start, ns));
    }
  }
  EXPECT_EQ(most_before_light, kHeavy);  // once in a thousand of its own: then it has had as much
  EXPECT_GT(had[kHeavy], 900 * kLightNs);
  for (uint64_t id = 0; id < kHeavy; id++) EXPECT_NEAR(had[id], had[0], kHeavyNs);
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
  constexpr uint64_t kRegular = 1, kNs = 2'000'000;
  uint64_t next = 2, finish = 0, before = 0, most_before = 0;
  for (int i = 0; i < 20; i++) Add(next++);
  Add(kRegular);
  for (int turn = 0; turn < 1000; turn++, before++) {
    const LookupQueue::Job job = queue_.Take();
    const uint64_t ran = queue_.Ran(job.start, kNs);
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
