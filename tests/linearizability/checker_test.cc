// The checker against histories made by hand: it must take the good ones and refuse the bad.
#include "linearizability/checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace weft::linearizability {
namespace {

// Writes histories down: At(from, to) opens one operation on the key, the rest fills it in.
class Story {
 public:
  explicit Story(std::string key = "k") : key_(std::move(key)) {}

  Story& Set(int process, int from, int to, std::string value, Result result = Result::kStored) {
    return Add(process, from, to, Verb::kSet, std::move(value), result);
  }
  Story& Write(int process, int from, int to, Verb verb, std::string value, Result result) {
    return Add(process, from, to, verb, std::move(value), result);
  }
  Story& Get(int process, int from, int to, std::string value, uint64_t version = kNoVersion) {
    Add(process, from, to, Verb::kGet, "", Result::kValue);
    history_.back().value = std::move(value);
    history_.back().version = version;
    return *this;
  }
  Story& Miss(int process, int from, int to) {
    return Add(process, from, to, Verb::kGet, "", Result::kMiss);
  }
  Story& Cas(int process, int from, int to, std::string value, uint64_t expected, Result result) {
    Add(process, from, to, Verb::kCas, std::move(value), result);
    history_.back().cas_expected = expected;
    return *this;
  }
  Story& Delete(int process, int from, int to, Result result = Result::kDeleted) {
    return Add(process, from, to, Verb::kDelete, "", result);
  }
  Story& Increment(int process, int from, int to, uint64_t delta, uint64_t number) {
    return Count(process, from, to, Verb::kIncrement, delta, number);
  }
  Story& Decrement(int process, int from, int to, uint64_t delta, uint64_t number) {
    return Count(process, from, to, Verb::kDecrement, delta, number);
  }
  Story& Key(std::string key) {
    key_ = std::move(key);
    return *this;
  }
  // The operation just written got no answer.
  Story& Lost() {
    history_.back().result = Result::kUnknown;
    history_.back().returned_ns = kNever;
    return *this;
  }
  const History& history() const { return history_; }
  Operation& last() { return history_.back(); }

  Verdict::Kind Judge(bool evicting = false) const {
    return Check(history_, {.evicting = evicting}).kind;
  }
  bool Good() const { return Judge() == Verdict::kLinearizable; }
  bool Bad() const { return Judge() == Verdict::kViolation; }

 private:
  Story& Count(int process, int from, int to, Verb verb, uint64_t delta, uint64_t number) {
    Add(process, from, to, verb, "", Result::kNumber);
    history_.back().delta = delta;
    history_.back().number = number;
    return *this;
  }
  Story& Add(int process, int from, int to, Verb verb, std::string argument, Result result) {
    Operation op;
    op.verb = verb;
    op.result = result;
    op.process = process;
    op.invoked_ns = from;
    op.returned_ns = to;
    op.key = key_;
    op.argument = std::move(argument);
    history_.push_back(std::move(op));
    return *this;
  }

  std::string key_;
  History history_;
};

TEST(Checker, EmptyHistoryIsGood) { EXPECT_TRUE(Check({}).ok()); }

TEST(Checker, SequentialLifeOfAKey) {
  EXPECT_TRUE(Story()
                  .Miss(1, 0, 1)
                  .Set(1, 2, 3, "a")
                  .Get(2, 4, 5, "a")
                  .Write(1, 6, 7, Verb::kAppend, "b", Result::kStored)
                  .Write(1, 8, 9, Verb::kPrepend, "c", Result::kStored)
                  .Get(2, 10, 11, "cab")
                  .Write(1, 12, 13, Verb::kTouch, "", Result::kTouched)
                  .Delete(2, 14, 15)
                  .Delete(2, 16, 17, Result::kMiss)
                  .Write(1, 18, 19, Verb::kReplace, "r", Result::kNotStored)
                  .Write(1, 20, 21, Verb::kAdd, "n", Result::kStored)
                  .Write(1, 22, 23, Verb::kAdd, "m", Result::kNotStored)
                  .Get(1, 24, 25, "n")
                  .Good());
}

TEST(Checker, OverlappingReadMaySeeEitherValue) {
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Set(1, 2, 9, "b").Get(2, 3, 4, "a").Get(2, 5, 6, "b").Good());
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Set(1, 2, 9, "b").Get(2, 3, 4, "b").Get(3, 3, 4, "a").Good());
}

TEST(Checker, OverlappingReadsMayNotGoBack) {
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Set(1, 2, 9, "b").Get(2, 3, 4, "b").Get(3, 5, 6, "a").Bad());
}

TEST(Checker, RefusesStaleRead) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(1, 2, 3, "b").Get(2, 4, 5, "a").Bad());
}

TEST(Checker, RefusesMissOfAPresentKey) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Miss(2, 2, 3).Bad());
}

TEST(Checker, RefusesValueNeverWritten) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Get(2, 2, 3, "z").Bad());
}

TEST(Checker, RefusesValueOfAnotherKey) {
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "k:1")
                  .Key("other")
                  .Set(1, 2, 3, "other:1")
                  .Key("k")
                  .Get(2, 4, 5, "other:1")
                  .Bad());
}

TEST(Checker, RefusesReadAfterDelete) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Delete(1, 2, 3).Get(2, 4, 5, "a").Bad());
}

TEST(Checker, RefusesLostUpdate) {
  // Both clients read version 7 and both say that they replaced it.
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Get(1, 2, 3, "a", 7)
                  .Get(2, 2, 3, "a", 7)
                  .Cas(1, 4, 6, "b", 7, Result::kStored)
                  .Cas(2, 4, 6, "c", 7, Result::kStored)
                  .Bad());
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Get(1, 2, 3, "a", 7)
                  .Get(2, 2, 3, "a", 7)
                  .Cas(1, 4, 6, "b", 7, Result::kExists)
                  .Cas(2, 4, 6, "c", 7, Result::kStored)
                  .Good());
}

TEST(Checker, RefusesLostAppend) {
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Write(1, 2, 5, Verb::kAppend, "x", Result::kStored)
                  .Write(2, 2, 5, Verb::kAppend, "y", Result::kStored)
                  .Get(1, 6, 7, "ax")
                  .Bad());
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Write(1, 2, 5, Verb::kAppend, "x", Result::kStored)
                  .Write(2, 2, 5, Verb::kAppend, "y", Result::kStored)
                  .Get(1, 6, 7, "ayx")
                  .Good());
}

TEST(Checker, RefusesTwoSuccessfulAdds) {
  EXPECT_TRUE(Story()
                  .Write(1, 0, 5, Verb::kAdd, "a", Result::kStored)
                  .Write(2, 0, 5, Verb::kAdd, "b", Result::kStored)
                  .Bad());
  EXPECT_TRUE(Story()
                  .Write(1, 0, 5, Verb::kAdd, "a", Result::kStored)
                  .Delete(3, 0, 5)
                  .Write(2, 0, 5, Verb::kAdd, "b", Result::kStored)
                  .Good());
}

TEST(Checker, RefusesTwoSuccessfulDeletes) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Delete(1, 2, 5).Delete(2, 2, 5).Bad());
}

TEST(Checker, RefusesCasAcrossAnotherWrite) {
  // ABA: the value is "a" again, but it is a later version.
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Get(2, 2, 3, "a", 7)
                  .Set(1, 4, 5, "b")
                  .Set(1, 6, 7, "a")
                  .Cas(2, 8, 9, "c", 7, Result::kStored)
                  .Bad());
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Get(2, 2, 3, "a", 7)
                  .Set(1, 4, 5, "b")
                  .Set(1, 6, 7, "a")
                  .Get(2, 8, 9, "a", 7)
                  .Bad());
}

TEST(Checker, RefusesOneVersionForTwoValues) {
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Get(2, 2, 3, "a", 7).Set(1, 4, 5, "b").Get(2, 6, 7, "b", 7).Bad());
}

TEST(Checker, RefusesCasThatFailsOnItsOwnVersion) {
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Get(2, 2, 3, "a", 7).Cas(2, 4, 5, "b", 7, Result::kExists).Bad());
}

TEST(Checker, VersionToldByAWriteIsTheVersionRead) {
  Story good;
  good.Set(1, 0, 1, "a").last().version = 9;
  EXPECT_TRUE(good.Cas(1, 2, 3, "b", 9, Result::kStored).Get(2, 4, 5, "b", 12).Good());
  Story bad;
  bad.Set(1, 0, 1, "a").last().version = 9;
  EXPECT_TRUE(bad.Get(2, 2, 3, "a", 8).Bad());
}

TEST(Checker, RefusesLostIncrement) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "5").Increment(1, 2, 5, 1, 6).Increment(2, 2, 5, 1, 6).Bad());
  EXPECT_TRUE(Story().Set(1, 0, 1, "5").Increment(1, 2, 5, 1, 7).Increment(2, 2, 5, 1, 6).Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "5").Increment(1, 2, 3, 1, 6).Get(2, 4, 5, "5").Bad());
}

TEST(Checker, ArithmeticFollowsMemcached) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "100").Decrement(1, 2, 3, 1, 99).Get(1, 4, 5, "99 ").Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "3").Decrement(1, 2, 3, 9, 0).Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "18446744073709551615").Increment(1, 2, 3, 2, 1).Good());
  Story bad;
  bad.Set(1, 0, 1, "abc").Increment(1, 2, 3, 1, 1).last().result = Result::kNotNumeric;
  EXPECT_TRUE(bad.Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "abc").Increment(1, 2, 3, 1, 1).Bad());
}

TEST(Checker, OneProcessKeepsItsOrderWhereRequestsOverlap) {
  // Pipelined: set b, then get; both are in flight together, the get must still see b.
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(1, 2, 9, "b").Get(1, 2, 9, "a").Bad());
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Get(1, 2, 9, "b").Set(1, 2, 9, "b").Bad());
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(1, 2, 9, "b").Get(1, 2, 9, "b").Good());
}

TEST(Checker, WriteOfTheValueAlreadyThereMayStillComeLater) {
  EXPECT_TRUE(Story()
                  .Set(1, 0, 90, "5")
                  .Set(2, 10, 11, "5")
                  .Get(2, 12, 13, "5")
                  .Decrement(2, 14, 15, 1, 4)
                  .Get(2, 91, 92, "5")
                  .Good());
}

TEST(Checker, UnansweredWriteMayHaveHappenedOrNot) {
  EXPECT_TRUE(Story()
                  .Set(1, 0, 1, "a")
                  .Set(2, 2, 3, "b")
                  .Lost()
                  .Get(1, 4, 5, "a")
                  .Get(1, 6, 7, "b")
                  .Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(2, 2, 3, "b").Lost().Get(1, 4, 5, "a").Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(2, 6, 7, "b").Lost().Get(1, 4, 5, "b").Bad());
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Set(2, 2, 3, "b").Lost().Get(1, 4, 5, "b").Get(1, 6, 7, "a").Bad());
}

TEST(Checker, EvictionExplainsAbsenceAndNothingElse) {
  const Story miss = Story().Set(1, 0, 1, "a").Miss(2, 2, 3);
  EXPECT_EQ(miss.Judge(false), Verdict::kViolation);
  EXPECT_EQ(miss.Judge(true), Verdict::kLinearizable);
  EXPECT_EQ(Story().Set(1, 0, 1, "a").Miss(2, 2, 3).Get(2, 4, 5, "a").Judge(true),
            Verdict::kViolation);
  EXPECT_EQ(Story().Set(1, 0, 1, "a").Set(1, 2, 3, "b").Get(2, 4, 5, "a").Judge(true),
            Verdict::kViolation);
  EXPECT_EQ(Story()
                .Set(1, 0, 1, "a")
                .Write(1, 2, 3, Verb::kAdd, "b", Result::kStored)
                .Get(2, 4, 5, "b")
                .Judge(true),
            Verdict::kLinearizable);
  EXPECT_EQ(Story().Set(1, 0, 1, "5").Increment(1, 2, 5, 1, 6).Increment(2, 2, 5, 1, 6).Judge(true),
            Verdict::kViolation);
}

TEST(Checker, FailedStoreChangesNothing) {
  EXPECT_TRUE(
      Story().Set(1, 0, 1, "a").Set(1, 2, 3, "b", Result::kFailed).Get(2, 4, 5, "a").Good());
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(1, 2, 3, "b", Result::kFailed).Get(2, 4, 5, "b").Bad());
}

TEST(Checker, ClearedKeyHoldsNothing) {
  EXPECT_TRUE(Story().Set(1, 0, 1, "a").Set(1, 2, 3, "b", Result::kCleared).Miss(2, 4, 5).Good());
  for (const char* value : {"a", "b"}) {
    EXPECT_TRUE(
        Story().Set(1, 0, 1, "a").Set(1, 2, 3, "b", Result::kCleared).Get(2, 4, 5, value).Bad());
  }
}

// A store that is cleared where the key holds nothing may have come later.
TEST(Checker, AClearedStoreMayComeBehindAnotherStore) {
  EXPECT_TRUE(Story().Set(1, 0, 9, "a").Set(2, 0, 9, "b", Result::kCleared).Miss(3, 10, 11).Good());
  EXPECT_TRUE(
      Story().Set(1, 0, 9, "a").Set(2, 0, 9, "b", Result::kCleared).Get(3, 10, 11, "a").Good());
  EXPECT_TRUE(Story().Set(1, 5, 9, "a").Set(2, 0, 4, "b", Result::kCleared).Miss(3, 10, 11).Bad());
}

TEST(Checker, NamesTheKeyAndTellsTheStory) {
  const Verdict verdict = Check(Story("lost").Set(1, 0, 1, "v").Miss(0, 2, 3).history());
  EXPECT_EQ(verdict.kind, Verdict::kViolation);
  EXPECT_EQ(verdict.key, "lost");
  EXPECT_NE(verdict.story.find("- [2 .. 3] p0 get lost -> miss"), std::string::npos)
      << verdict.story;
}

// A register that a random schedule of overlapping clients runs on: what it records is right by
// construction. `Corrupt` then makes one answer wrong.
class Simulator {
 public:
  explicit Simulator(uint64_t seed) : rng_(seed) {}

  History Run(int operations, int clients, bool evicting) {
    std::vector<int64_t> free_at(clients, 0);
    History history;
    std::string value;
    bool present = false;
    uint64_t version = 0;
    int64_t now = 0;
    // Operations take effect at rising moments `now`; each lasts some while around its moment.
    for (int i = 0; i < operations; ++i) {
      now += 1 + Draw(10);
      const int client = static_cast<int>(Draw(clients));
      while (free_at[client] >= now) now += 5;
      Operation op;
      op.process = client;
      op.key = "k";
      op.invoked_ns = std::max(free_at[client] + 1, now - Draw(60));
      op.returned_ns = now + Draw(60);
      free_at[client] = op.returned_ns;
      if (evicting && Draw(10) == 0) present = false;
      const int64_t draw = Draw(100);
      if (draw < 40) {
        op.verb = Verb::kGet;
        op.result = present ? Result::kValue : Result::kMiss;
        if (present) op.value = value;
        if (present && Draw(2) == 0) op.version = version;
      } else if (draw < 70) {
        const Verb verbs[] = {Verb::kSet, Verb::kSet, Verb::kAdd, Verb::kReplace};
        op.verb = verbs[Draw(4)];
        op.argument = "v" + std::to_string(i);
        const bool allowed = op.verb == Verb::kSet || (op.verb == Verb::kAdd) != present;
        op.result = allowed ? Result::kStored : Result::kNotStored;
        if (allowed) present = true, value = op.argument, ++version;
      } else if (draw < 85 && told_ != 0) {
        op.verb = Verb::kCas;
        op.argument = "c" + std::to_string(i);
        op.cas_expected = told_;
        op.result = !present ? Result::kMiss : told_ == version ? Result::kStored : Result::kExists;
        if (op.result == Result::kStored) value = op.argument, ++version;
      } else {
        op.verb = Verb::kDelete;
        op.result = present ? Result::kDeleted : Result::kMiss;
        present = false;
      }
      if (op.version != kNoVersion) pending_.push_back({op.returned_ns, op.version});
      for (const auto& [when, what] : pending_) {
        if (when < now - 60) told_ = what;
      }
      history.push_back(op);
    }
    return history;
  }

  int64_t Draw(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(rng_); }

 private:
  std::mt19937_64 rng_;
  uint64_t told_ = 0;
  std::vector<std::pair<int64_t, uint64_t>> pending_;
};

TEST(Checker, AcceptsWhatARealRegisterDidInFewSteps) {
  constexpr uint64_t kHistories = 400;
  constexpr int kOperations = 200;
  uint64_t steps = 0;
  for (uint64_t seed = 0; seed < kHistories; ++seed) {
    Simulator simulator(seed);
    const bool evicting = seed % 2 == 1;
    const History history = simulator.Run(kOperations, 8, evicting);
    const Verdict verdict = Check(history, {.evicting = evicting});
    steps += verdict.steps;
    ASSERT_TRUE(verdict.ok()) << "seed " << seed << ", steps " << verdict.steps << "\n"
                              << verdict.story;
  }
  EXPECT_LE(steps, kHistories * kOperations) << "fewer than one an operation";
}

TEST(Checker, FindsOneWrongAnswerAmongManyRightOnes) {
  int refused = 0;
  int tried = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Simulator simulator(1000 + seed);
    History history = simulator.Run(150, 6, false);
    std::vector<size_t> reads;
    for (size_t i = 0; i < history.size(); ++i) {
      if (history[i].result == Result::kValue) reads.push_back(i);
    }
    if (reads.size() < 8) continue;
    // A read in the second half answers what a read long before it was told.
    Operation& late = history[reads[reads.size() - 1]];
    const Operation& early = history[reads[1]];
    if (late.value == early.value) continue;
    late.value = early.value;
    late.version = kNoVersion;
    ++tried;
    refused += Check(history).kind == Verdict::kViolation;
  }
  EXPECT_GT(tried, 100);
  EXPECT_EQ(refused, tried);
}

}  // namespace
}  // namespace weft::linearizability
