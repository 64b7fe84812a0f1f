// Threads   one.
#include "bench/policy/policy.h"

#include <optional>

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

TEST(Policies, AreMadeByTheirNames) {
  const Trace trace = TraceOfLetters("ab");
  EXPECT_EQ(PolicyForms().size(), 6u);
  for (const PolicyForm& form : PolicyForms()) {
    EXPECT_FALSE(form.meaning.empty()) << form.name;
    EXPECT_TRUE(MakePolicy(form.name, 10, trace)) << form.name;
  }
  const auto none = MakePolicy("clock", 10, trace);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kInvalidArgument);
  for (const PolicyForm& form : PolicyForms())
    EXPECT_NE(none.error().message().find(form.name), std::string_view::npos) << form.name;
}

TEST(Policies, HitOnlyWhatWasSetAndNotDeleted) {
  base::Random random(base::TestSeed(3));
  for (const PolicyForm& form : PolicyForms()) {
    for (uint32_t round = 0; round < base::Rounds(20); ++round) {
      RandomTraceOptions options;
      options.bytes_max = 1 + static_cast<uint32_t>(random.Below(100));
      const Trace trace = RandomTrace(options, random);
      const uint64_t capacity = random.Below(2000);
      const auto policy = PolicyNamed(form.name, capacity, trace);
      std::vector<std::optional<uint32_t>> stored(trace.records());  // bytes; none: not there
      for (uint64_t i = 0; i < trace.requests.size(); ++i) {
        const TraceRequest& request = trace.requests[i];
        const char outcome = PlayRequest(*policy, trace, i);
        ASSERT_LE(policy->bytes(), capacity) << form.name;
        auto& of_record = stored[request.record];
        if (outcome == 'h') {
          ASSERT_TRUE(of_record && *of_record <= capacity) << form.name;
        } else if (outcome == 'd') {
          of_record.reset();
        } else {
          of_record = request.value_bytes;
        }
      }
    }
  }
}

TEST(Policies, AllFitsInACacheThatIsLargeEnough) {
  base::Random random(base::TestSeed(9));
  RandomTraceOptions options;
  options.deletes_percent = 0;
  options.bytes_max = 50;
  const Trace trace = RandomTrace(options, random);
  for (const PolicyForm& form : PolicyForms()) {
    const auto policy = PolicyNamed(form.name, 1'000'000, trace);
    std::vector<bool> stored(trace.records());
    for (uint64_t i = 0; i < trace.requests.size(); ++i) {
      const uint32_t record = trace.requests[i].record;
      ASSERT_EQ(PlayRequest(*policy, trace, i) == '-',
                trace.requests[i].operation == TraceOperation::kGet && !stored[record])
          << form.name;
      stored[record] = true;
    }
  }
}

TEST(Policies, WhatIsLargerThanTheCacheGoesWithWhatItReplaces) {
  const Trace trace = TraceOfLetters("abababab");
  for (const PolicyForm& form : PolicyForms()) {
    const auto policy = PolicyNamed(form.name, 1000, trace);
    policy->Set(0, 0, 500);
    EXPECT_EQ(policy->bytes(), 500u) << form.name;
    policy->Set(1, 1, 1001);
    EXPECT_EQ(policy->bytes(), 500u) << form.name;
    policy->Set(2, 0, 1001);
    EXPECT_EQ(policy->bytes(), 0u) << form.name;
    EXPECT_FALSE(policy->Get(4, 0)) << form.name;
  }
}

TEST(Policies, ASetGivesTheNewSize) {
  const Trace trace = TraceOfLetters("aaaaaaaa");
  for (const PolicyForm& form : PolicyForms()) {
    const auto policy = PolicyNamed(form.name, 1000, trace);
    uint64_t request = 0;
    for (const uint32_t bytes : {5u, 700u, 20u, 990u, 1u}) {
      policy->Set(request++, 0, bytes);
      EXPECT_EQ(policy->bytes(), bytes) << form.name;
      EXPECT_TRUE(policy->Get(request, 0)) << form.name;
    }
    policy->Delete(0);
    EXPECT_EQ(policy->bytes(), 0u) << form.name;
    EXPECT_FALSE(policy->Get(request, 0)) << form.name;
    policy->Delete(0);
  }
}

TEST(Policies, HoldNothingInACacheOfNoBytes) {
  for (const PolicyForm& form : PolicyForms())
    EXPECT_EQ(PlayLetters(form.name, 0, "aabb"), "----") << form.name;
}

// All but those that choose what they admit.
TEST(Policies, HoldWhatWasSetLast) {
  base::Random random(base::TestSeed(4));
  RandomTraceOptions options;
  options.bytes_max = 100;
  const Trace trace = RandomTrace(options, random);
  for (const char* name : {"lru", "fifo", "s3-fifo", "s3-fifo-no-ghosts"}) {
    for (const uint64_t capacity : {100, 150, 1000, 2000}) {
      const auto policy = PolicyNamed(name, capacity, trace);
      for (uint64_t i = 0; i < trace.requests.size(); ++i) {
        policy->Set(i, trace.requests[i].record, trace.requests[i].value_bytes);
        if (i % 3 == 0) {
          ASSERT_TRUE(policy->Get(i, trace.requests[i].record)) << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::bench
