// Threads   one.
#include "bench/policy/w_tinylfu.h"

#include <gtest/gtest.h>

#include "bench/policy/frequency_sketch.h"
#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

// Its queues are slow, its sketch is the same: the sketch has tests of its own.
class NaiveWTinyLfu final : public Policy {
 public:
  NaiveWTinyLfu(uint64_t capacity, uint64_t objects)
      : window_max_(capacity / 100), main_max_(capacity - capacity / 100), sketch_(objects) {}

  bool Get(uint64_t request, uint32_t record) override {
    Count(request, record);
    return Touch(record);
  }

  void Set(uint64_t request, uint32_t record, uint32_t bytes) override {
    Count(request, record);
    if (bytes > main_max_) return Delete(record);
    const bool was_in_window = window_.Remove(record);
    if (!was_in_window && Touch(record)) return Replace(record, bytes);
    if (bytes > window_max_) return Admit({record, bytes});
    window_.Push({record, bytes});
    while (window_.bytes() > window_max_) Admit(window_.TakeOldestBut(UINT32_MAX));
  }

  void Delete(uint32_t record) override {
    for (NaiveQueue* queue : {&window_, &probation_, &protected_}) queue->Remove(record);
  }

  uint64_t bytes() const override { return window_.bytes() + Main(); }

 private:
  uint64_t Main() const { return probation_.bytes() + protected_.bytes(); }

  void Count(uint64_t request, uint32_t record) {
    if (request != last_) sketch_.Add(record);
    last_ = request;
  }

  bool Touch(uint32_t record) {
    for (NaiveQueue* queue : {&window_, &probation_, &protected_}) {
      const NaiveObject* const found = queue->Find(record);
      if (found == nullptr) continue;
      const NaiveObject object = *found;
      queue->Remove(record);
      (queue == &window_ ? window_ : protected_).Push(object);
      Demote();
      return true;
    }
    return false;
  }

  void Demote() {
    while (protected_.bytes() > main_max_ - main_max_ / 5)
      probation_.Push(protected_.TakeOldestBut(UINT32_MAX));
  }

  void Replace(uint32_t record, uint32_t bytes) {
    NaiveObject* const found = probation_.Find(record);
    (found != nullptr ? found : protected_.Find(record))->bytes = bytes;
    Demote();
    while (Main() > main_max_)
      (probation_.HasOtherThan(record) ? probation_ : protected_).TakeOldestBut(record);
  }

  void Admit(const NaiveObject& candidate) {
    const uint32_t count = sketch_.CountOf(candidate.record);
    std::vector<NaiveObject> in_turn = probation_.objects();
    in_turn.insert(in_turn.end(), protected_.objects().begin(), protected_.objects().end());
    std::vector<uint32_t> victims;
    uint64_t freed = 0;
    uint32_t sum = 0;
    for (const NaiveObject& victim : in_turn) {
      if (Main() + candidate.bytes <= main_max_ + freed) break;
      const uint32_t victim_count = sketch_.CountOf(victim.record);
      sum += victim_count;
      if (sum >= count) return;
      if (victim_count == 0) {
        Delete(victim.record);
      } else {
        victims.push_back(victim.record);
        freed += victim.bytes;
      }
    }
    for (const uint32_t victim : victims) Delete(victim);
    probation_.Push(candidate);
  }

  const uint64_t window_max_, main_max_;
  FrequencySketch sketch_;
  uint64_t last_ = UINT64_MAX;
  NaiveQueue window_, probation_, protected_;
};

uint64_t ObjectsFor(uint64_t capacity, const Trace& trace) {
  uint64_t bytes = 0, requests = 0;
  for (const TraceRequest& request : trace.requests) {
    if (request.operation == TraceOperation::kDelete) continue;
    bytes += request.value_bytes;
    ++requests;
  }
  return std::clamp<uint64_t>(capacity / (bytes / requests), 1, trace.records());
}

// Gets of one byte of 1,000 records, in a cache of 100: a window of one, and main of 99.
class WTinyLfu100 : public testing::Test {
 protected:
  void Ask(uint32_t first, uint32_t end) {
    for (uint32_t record = first; record < end; ++record) Hits(record);
  }
  bool Hits(uint32_t record, uint32_t bytes = 1) {
    const bool hit = policy_->Get(++request_, record);
    if (!hit) policy_->Set(request_, record, bytes);
    return hit;
  }

  static Trace BytesOfOne() {
    Trace trace = EmptyTrace(1000);
    for (uint32_t record = 0; record < 1000; ++record)
      trace.requests.push_back({.record = record, .value_bytes = 1});
    return trace;
  }
  const Trace trace_ = BytesOfOne();
  const std::unique_ptr<Policy> policy_ = MakeWTinyLfu(100, trace_);
  uint64_t request_ = 0;
};

// A count that others share may be too high: some of the scan come in.
TEST_F(WTinyLfu100, AScanDisplacesHardlyAnything) {
  Ask(0, 300);
  EXPECT_TRUE(Hits(299));  // in the window
  uint32_t hits = 0;
  for (uint32_t record = 99; record-- > 0;) hits += Hits(record);
  EXPECT_GE(hits, 94u);
}

TEST_F(WTinyLfu100, WhatWasUsedMoreOftenThanTheOldestTakesItsPlace) {
  Ask(0, 100);
  Ask(500, 501);
  EXPECT_TRUE(Hits(500));
  Ask(501, 520);
  EXPECT_TRUE(Hits(500));
  EXPECT_FALSE(Hits(0));
  EXPECT_TRUE(Hits(1));
}

TEST_F(WTinyLfu100, ALargeObjectIsHeldAgainstAllThatWouldGo) {
  Ask(0, 100);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Hits(700, 3)) << i;  // three uses against three
  EXPECT_EQ(policy_->bytes(), 100u);
  EXPECT_FALSE(Hits(700, 3));  // the fourth
  EXPECT_TRUE(Hits(700));
  EXPECT_EQ(policy_->bytes(), 100u);
  for (const uint32_t record : {3, 4, 98}) EXPECT_TRUE(Hits(record)) << record;
  for (const uint32_t record : {0, 1, 2}) EXPECT_FALSE(Hits(record)) << record;
}

TEST_F(WTinyLfu100, MainIsTheLimitOfAnObject) {
  policy_->Set(1, 5, 100);
  EXPECT_EQ(policy_->bytes(), 0u);
  policy_->Set(2, 5, 99);
  EXPECT_EQ(policy_->bytes(), 99u);
}

// Victims that the sketch has forgotten go for any number of bytes.
TEST_F(WTinyLfu100, WhatIsForgottenGivesWayToLargeObjects) {
  Ask(0, 99);
  for (int i = 0; i < 3000; ++i) Hits(900);
  Hits(800, 90);
  EXPECT_TRUE(Hits(800));
}

TEST(WTinyLfu, PlaysAsItsModel) {
  ExpectPolicyLikeModel("w-tinylfu", [](uint64_t capacity, const Trace& trace) {
    return std::make_unique<NaiveWTinyLfu>(capacity, ObjectsFor(capacity, trace));
  });
}

}  // namespace
}  // namespace weft::bench
