// Threads   one.
#include "bench/policy/belady.h"

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

// Looks through the trace for each next get.
class NaiveBelady final : public Policy {
 public:
  NaiveBelady(uint64_t capacity, const Trace& trace) : capacity_(capacity), trace_(trace) {}

  bool Get(uint64_t request, uint32_t record) override {
    NaiveObject* const found = held_.Find(record);
    if (found == nullptr) return false;
    found->uses = NextGet(request, record);
    if (found->uses == 0) held_.Remove(record);
    return true;
  }

  void Set(uint64_t request, uint32_t record, uint32_t bytes) override {
    held_.Remove(record);
    const uint32_t next_get = NextGet(request, record);
    if (next_get == 0 || bytes > capacity_) return;
    held_.Push({record, bytes, next_get});
    while (held_.bytes() > capacity_) {
      const auto& objects = held_.objects();
      held_.Remove(std::max_element(objects.begin(), objects.end(), [](auto& one, auto& other) {
                     return one.uses < other.uses;
                   })->record);
    }
  }

  void Delete(uint32_t record) override { held_.Remove(record); }
  uint64_t bytes() const override { return held_.bytes(); }

 private:
  // 0: none.
  uint32_t NextGet(uint64_t request, uint32_t record) const {
    for (uint64_t i = request + 1; i < trace_.requests.size(); ++i) {
      if (trace_.requests[i].record != record) continue;
      return trace_.requests[i].operation == TraceOperation::kGet ? static_cast<uint32_t>(i) : 0;
    }
    return 0;
  }

  const uint64_t capacity_;
  const Trace& trace_;
  NaiveQueue held_;  // uses: the number of its next get
};

uint64_t MissesOf(const std::string& name, uint64_t capacity, const Trace& trace) {
  const std::string outcomes = PlayTrace(*PolicyNamed(name, capacity, trace), trace);
  return static_cast<uint64_t>(std::count(outcomes.begin(), outcomes.end(), '-'));
}

TEST(Belady, DropsWhatIsAskedForLast) {
  EXPECT_EQ(PlayLetters("belady", 2, "abcbca"), "---hh-");
  EXPECT_EQ(PlayLetters("belady", 2, "abcab"), "---hh");  // c never comes again
  EXPECT_EQ(PlayLetters("belady", 2, "abcabc"), "---hh-");
}

TEST(Belady, WhatIsNotAskedForAgainIsNotHeld) {
  const Trace trace = TraceOfLetters("aab");
  const auto policy = MakeBelady(5, trace);
  PlayRequest(*policy, trace, 0);
  EXPECT_EQ(policy->bytes(), 1u);
  EXPECT_EQ(PlayRequest(*policy, trace, 1), 'h');
  EXPECT_EQ(policy->bytes(), 0u);
  PlayRequest(*policy, trace, 2);
  EXPECT_EQ(policy->bytes(), 0u);
}

TEST(Belady, NothingIsHeldUntilASetOrADelete) {
  for (const TraceOperation operation : {TraceOperation::kSet, TraceOperation::kDelete}) {
    Trace trace = TraceOfLetters("aaa");
    trace.requests[1].operation = operation;
    const auto policy = MakeBelady(5, trace);
    PlayRequest(*policy, trace, 0);
    EXPECT_EQ(policy->bytes(), 0u);
  }
}

TEST(Belady, PlaysAsItsModel) {
  ExpectPolicyLikeModel("belady", [](uint64_t capacity, const Trace& trace) {
    return std::make_unique<NaiveBelady>(capacity, trace);
  });
}

TEST(Belady, MissesNoMoreThanAnyOtherWhereSizesAreEqual) {
  base::Random random(base::TestSeed(5));
  for (uint32_t round = 0; round < base::Rounds(30); ++round) {
    RandomTraceOptions options;
    options.records = 300;
    options.requests = 10'000;
    options.bytes_min = options.bytes_max = 10;
    const Trace trace = RandomTrace(options, random);
    const uint64_t capacity = random.Below(3500);
    const uint64_t least = MissesOf("belady", capacity, trace);
    for (const PolicyForm& form : PolicyForms())
      EXPECT_LE(least, MissesOf(form.name, capacity, trace)) << form.name << " " << capacity;
  }
}

}  // namespace
}  // namespace weft::bench
