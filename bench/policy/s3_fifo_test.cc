// Threads   one.
#include "bench/policy/s3_fifo.h"

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

// The paper's algorithm 1, with bytes for objects.
class NaiveS3Fifo final : public Policy {
 public:
  NaiveS3Fifo(uint64_t capacity, bool with_ghosts)
      : capacity_(capacity), with_ghosts_(with_ghosts) {}

  bool Get(uint64_t /*request*/, uint32_t record) override {
    NaiveObject* const found = FindHeld(record);
    if (found == nullptr) return false;
    found->uses = std::min(3u, found->uses + 1);
    return true;
  }

  void Set(uint64_t request, uint32_t record, uint32_t bytes) override {
    if (bytes > capacity_) return Delete(record);
    if (Get(request, record)) {
      FindHeld(record)->bytes = bytes;
      while (this->bytes() > capacity_) Evict(record);
      return;
    }
    const bool was_ghost = ghosts_.Remove(record);
    while (this->bytes() + bytes > capacity_) Evict(record);
    (was_ghost ? main_ : small_).Push({record, bytes});
  }

  void Delete(uint32_t record) override {
    small_.Remove(record);
    main_.Remove(record);
    ghosts_.Remove(record);
  }

  uint64_t bytes() const override { return small_.bytes() + main_.bytes(); }

 private:
  NaiveObject* FindHeld(uint32_t record) {
    NaiveObject* const in_small = small_.Find(record);
    return in_small != nullptr ? in_small : main_.Find(record);
  }

  void Evict(uint32_t kept) {
    const bool small_is_full = small_.bytes() >= capacity_ / 10;
    if (small_.HasOtherThan(kept) && (small_is_full || !main_.HasOtherThan(kept)))
      return EvictFromSmall(kept);
    for (;;) {
      NaiveObject object = main_.TakeOldestBut(kept);
      if (object.uses == 0) return;
      --object.uses;
      main_.Push(object);
    }
  }

  void EvictFromSmall(uint32_t kept) {
    while (small_.HasOtherThan(kept)) {
      NaiveObject object = small_.TakeOldestBut(kept);
      const bool moves = object.uses > 1;
      object.uses = 0;
      (moves ? main_ : ghosts_).Push(object);
      const uint64_t ghosts_max = with_ghosts_ ? capacity_ - capacity_ / 10 : 0;
      if (object.bytes > ghosts_max) ghosts_.Remove(object.record);
      while (ghosts_.bytes() > ghosts_max) ghosts_.TakeOldestBut(UINT32_MAX);
      if (!moves) return;
    }
  }

  const uint64_t capacity_;
  const bool with_ghosts_;
  NaiveQueue small_, main_, ghosts_;
};

// Objects of a byte in caches of 10: small has one, main nine.
const std::string kTwenty = "fghijklmnopqrstuvwxy";

TEST(S3Fifo, AnObjectThatWasUsedTwiceMovesToMain) {
  EXPECT_EQ(PlayLetters("s3-fifo", 10, "aaa" + kTwenty + "a").back(), 'h');
  EXPECT_EQ(PlayLetters("s3-fifo", 10, "aa" + kTwenty + "a").back(), '-');
  EXPECT_EQ(PlayLetters("s3-fifo", 10, "a" + kTwenty + "a").back(), '-');
}

TEST(S3Fifo, AMissedGhostGoesToMain) {
  // k drops a from small, which then is a ghost. What follows drops only what is in small.
  const std::string letters = "abcdefghijka" + std::string("lmnopqrstuvwxyz") + "a";
  EXPECT_EQ(PlayLetters("s3-fifo", 10, letters).back(), 'h');
  EXPECT_EQ(PlayLetters("s3-fifo-no-ghosts", 10, letters).back(), '-');
}

TEST(S3Fifo, GhostsAreOfAsManyBytesAsMain) {
  // k to s drop a to i, nine ghosts. t drops j, and a is forgotten.
  const std::string nine = "abcdefghijklmnopqrs";
  const std::string others = "bcdefghijklm";
  EXPECT_EQ(PlayLetters("s3-fifo", 10, nine + "a" + "uvwxyzuvwxyz" + "a").back(), 'h');
  EXPECT_EQ(PlayLetters("s3-fifo", 10, nine + "ta" + "uvwxyz" + others + "a").back(), '-');
}

// What of these are hits after a was dropped, was deleted or not, and came again.
char OutcomeOfReturned(bool is_deleted) {
  Trace trace = TraceOfLetters("abcdefghijkalmnopqrstuvwxyza");
  const auto policy = PolicyNamed("s3-fifo", 10, trace);
  char last = ' ';
  for (uint64_t i = 0; i < trace.requests.size(); ++i) {
    if (i == 11 && is_deleted) policy->Delete(0);
    last = PlayRequest(*policy, trace, i);
  }
  return last;
}

TEST(S3Fifo, ADeletedGhostIsForgotten) {
  EXPECT_EQ(OutcomeOfReturned(false), 'h');
  EXPECT_EQ(OutcomeOfReturned(true), '-');
}

TEST(S3Fifo, MainKeepsWhatWasUsedAndDropsTheRest) {
  // a and b come to main as ghosts. Nine more ghosts follow: b, used, stays, and a goes.
  const std::string start = "abcdefghijklab" + std::string("b");
  const std::string ghosts = "cdefghijkl";
  const std::string outcomes = PlayLetters("s3-fifo", 10, start + ghosts + "ba");
  EXPECT_EQ(outcomes.substr(outcomes.size() - 2), "h-");
}

TEST(S3Fifo, WhatGrowsStaysAndOthersGo) {
  const auto policy = MakeS3Fifo(100, 5, true);
  for (const uint32_t record : {0, 1, 2, 3, 4}) policy->Set(record, record, 20);
  policy->Set(5, 0, 70);
  EXPECT_EQ(policy->bytes(), 90u);
  EXPECT_TRUE(policy->Get(6, 0));
  EXPECT_TRUE(policy->Get(7, 4));
}

TEST(S3Fifo, PlaysAsItsModel) {
  ExpectPolicyLikeModel("s3-fifo", [](uint64_t capacity, const Trace& /*trace*/) {
    return std::make_unique<NaiveS3Fifo>(capacity, true);
  });
  ExpectPolicyLikeModel("s3-fifo-no-ghosts", [](uint64_t capacity, const Trace& /*trace*/) {
    return std::make_unique<NaiveS3Fifo>(capacity, false);
  });
}

}  // namespace
}  // namespace weft::bench
