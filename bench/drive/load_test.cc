// The load generator against targets whose answers are known: does it tell the truth?
#include "bench/drive/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "base/mutex.h"
#include "bench/drive/load_test_kit.h"
#include "bench/target/echo_target.h"
#include "bench/target/memcached_session.h"
#include "bench/target/target_test_kit.h"

namespace weft::bench {
namespace {

std::unique_ptr<EchoTarget> Echo(uint64_t service_us) {
  auto target = EchoTarget::Open({.service_ns = service_us * 1000});
  EXPECT_TRUE(target.has_value()) << target.error().ToString();
  return std::move(*target);
}

// Answers at once what the test says.
class ScriptedTarget final : public BareTarget {
 public:
  using Script = std::function<OutcomeKind(const Operation&)>;
  explicit ScriptedTarget(Script script) : script_(std::move(script)) {}

  Result<std::unique_ptr<Session>> NewSession() override {
    return std::unique_ptr<Session>(new ScriptedSession(script_));
  }

 private:
  class ScriptedSession final : public Session {
   public:
    explicit ScriptedSession(const Script& script) : script_(script) {}
    Status Submit(std::span<const Operation> operations) override {
      for (const Operation& operation : operations)
        outcomes_.push_back(
            {.tag = operation.tag, .kind = operation.kind, .outcome = script_(operation)});
      return Status::Ok();
    }
    Status Take(std::vector<Outcome>* outcomes) override {
      outcomes->insert(outcomes->end(), outcomes_.begin(), outcomes_.end());
      outcomes_.clear();
      return Status::Ok();
    }
    std::string FirstError() const override { return "as the script has it"; }

   private:
    const Script& script_;
    std::vector<Outcome> outcomes_;
  };

  const Script script_;
};

// Answers the first of what it is asked, and nothing more. It may close the connection in the same
// moment.
class OneAnswerTarget final : public BareTarget {
 public:
  explicit OneAnswerTarget(bool closes) : closes_(closes) {}

  Result<std::unique_ptr<Session>> NewSession() override {
    return std::unique_ptr<Session>(std::make_unique<OneAnswerSession>(format_, closes_));
  }

 private:
  class OneAnswerSession final : public Session {
   public:
    OneAnswerSession(const RecordFormat& format, bool closes)
        : session_(std::make_unique<Stream>(server_.TakeSessionEnd()), format, false),
          closes_(closes) {}
    Status Submit(std::span<const Operation> operations) override {
      Status status = session_.Submit(operations);
      server_.Asked();
      server_.Answer("END\r\n");
      if (closes_) server_.Close();
      return status;
    }
    Status Take(std::vector<Outcome>* outcomes) override { return session_.Take(outcomes); }
    int fd() const override { return session_.fd(); }

   private:
    ServerEnd server_;
    MemcachedSession session_;
    const bool closes_;
  };

  const RecordFormat format_ = RecordFormat::OfSizes(16, 64);
  const bool closes_;
};

TEST(Load, AnOpenLoopKeepsItsSchedule) {
  const auto target = Echo(1000);
  LoadOptions options{.threads = 2, .sessions = 4, .depth = 8, .warmup_s = 0.1, .seconds = 1};
  options.rate = RateSchedule::Constant(2000);
  const LoadFigures figures = FiguresOf(target.get(), options, "ycsb-a");
  EXPECT_NEAR(static_cast<double>(figures.operations), 2000, 2);
  EXPECT_GE(figures.latency_ns.min(), 1'000'000u);
  const double reads =
      static_cast<double>(figures.by_kind[static_cast<size_t>(OperationKind::kRead)].count());
  EXPECT_NEAR(reads, 1000, 120);
}

TEST(Load, AnOpenLoopSendsBursts) {
  const auto target = Echo(1000);
  LoadOptions options{.sessions = 2, .more_sessions = 1, .depth = 8, .burst = 8, .seconds = 1};
  options.rate = RateSchedule::Constant(100);
  const LoadFigures figures = FiguresOf(target.get(), options);
  EXPECT_NEAR(static_cast<double>(figures.operations), 800, 16);
  EXPECT_EQ(figures.operations % 8, 0u);
  EXPECT_EQ(figures.outcomes.done, figures.operations);
  EXPECT_GE(figures.latency_ns.min(), 1'000'000u);
}

// Falls behind at its first operation, by a pause.
std::unique_ptr<ScriptedTarget> PausesOnce(int64_t pause_ms) {
  auto has_paused = std::make_shared<std::atomic<bool>>(false);
  return std::make_unique<ScriptedTarget>([has_paused, pause_ms](const Operation&) {
    if (!has_paused->exchange(true))
      std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    return OutcomeKind::kDone;
  });
}

TEST(Load, AnEmbeddedStoreThatFellBehindCatchesUp) {
  const auto target = PausesOnce(50);
  LoadOptions options{.seconds = 0.1, .patience_s = 5};
  options.rate = RateSchedule::Constant(1000);
  const LoadFigures figures = FiguresOf(target.get(), options);
  EXPECT_NEAR(static_cast<double>(figures.operations), 100, 2);
}

// Where all sessions are full what is due waits, and its clock runs.
TEST(Load, AnOpenLoopTellsWhatWasDoneNotWhatWasAskedFor) {
  const auto target = Echo(5000);  // two at a time: 400 a second
  LoadOptions options{.threads = 1, .sessions = 2, .depth = 1, .seconds = 0.5};
  options.rate = RateSchedule::Constant(800);
  const LoadFigures figures = FiguresOf(target.get(), options);
  EXPECT_NEAR(400, static_cast<double>(figures.operations), 3);
  EXPECT_LE(figures.OperationsPerSecond(), 401);
  EXPECT_GE(figures.seconds, 0.99);
}

TEST(Load, APauseAtTheEndOfAScheduleCounts) {
  const auto target = Echo(100);
  LoadOptions options{.threads = 2, .sessions = 1, .depth = 1, .seconds = 0.6};
  options.rate = *RateSchedule::Parse("1000 for 200ms, 0 for 10s");
  bool has_ended = false;
  LoadEvents events;
  events.counting_ends = [&] { has_ended = true; };
  const LoadFigures figures = FiguresOf(target.get(), options, "ycsb-c", events);
  EXPECT_NEAR(200, static_cast<double>(figures.operations), 3);
  EXPECT_GE(figures.seconds, 0.6 - 1e-6);
  // The last one was due before 0.2 s. It may have ended after the schedule.
  const double last_end_s = 0.2 + static_cast<double>(figures.latency_ns.max()) * 1e-9;
  EXPECT_LE(figures.seconds, std::max(0.6, last_end_s) + 1e-6);
  EXPECT_TRUE(has_ended);
}

// What is due would take it 50 seconds. Its answers come in the client's own thread: who stops that
// stops both.
TEST(Load, ARateThatCannotBeEndsTheRun) {
  ScriptedTarget target([](const Operation&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OutcomeKind::kDone;
  });
  RecordSpace space(1000);
  LoadOptions options{.seconds = 0.05, .patience_s = 0.2};
  options.rate = RateSchedule::Constant(1e6);
  auto figures = RunLoad(&target, SmallMix("ycsb-c"), &space, options);
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(Code::kRetryLater, figures.error().code());
}

TEST(Load, WaitingForASessionCounts) {
  const auto target = Echo(10'000);
  LoadOptions options{.seconds = 0.5};
  options.rate = RateSchedule::Constant(200);  // twice of what one session can have
  const LoadFigures figures = FiguresOf(target.get(), options);
  EXPECT_NEAR(static_cast<double>(figures.operations), 100, 2);
  EXPECT_GE(figures.latency_ns.max(), 400'000'000u) << "the last one waits for half a second";
}

TEST(Load, AFillStoresEachRecordOnce) {
  base::Mutex mutex;
  std::vector<int> stored(1000);
  ScriptedTarget target([&](const Operation& operation) {
    EXPECT_EQ(operation.kind, OperationKind::kInsert);
    base::MutexLock lock(&mutex);
    stored[operation.record]++;
    return OutcomeKind::kDone;
  });
  RecordSpace space;
  const OperationMix fill = FillOf(SmallMix("ycsb-a"));
  auto figures = RunLoad(&target, fill, &space, {.threads = 3, .depth = 7});
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_EQ(figures->operations, 1000u);
  EXPECT_EQ(space.acknowledged(), 1000u);
  for (const int times : stored) EXPECT_EQ(times, 1);
}

TEST(Load, AWrongAnswerEndsTheRun) {
  std::atomic<int> left = 100;
  ScriptedTarget target(
      [&](const Operation&) { return left-- > 0 ? OutcomeKind::kDone : OutcomeKind::kWrong; });
  RecordSpace space(1000);
  auto figures = RunLoad(&target, SmallMix("ycsb-c"), &space, {.threads = 2, .seconds = 30});
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(figures.error().code(), Code::kCorruption);
  EXPECT_NE(figures.error().message().find("as the script has it"), std::string::npos);
}

TEST(Load, ALostRecordIsWrongWhereAStoreMayLoseNone) {
  for (const bool is_wrong : {false, true}) {
    ScriptedTarget target([](const Operation&) { return OutcomeKind::kMissing; });
    RecordSpace space(1000);
    // The wrong answer ends it, however long the first takes to come.
    auto figures = RunLoad(&target, SmallMix("ycsb-c"), &space,
                           {.seconds = is_wrong ? 30 : 0.05, .missing_is_wrong = is_wrong});
    ASSERT_EQ(figures.has_value(), !is_wrong);
    if (!is_wrong) {
      EXPECT_EQ(figures->outcomes.missing, figures->operations);
    }
  }
}

// Nothing else would: it is to carry out more than is ever answered.
TEST(Load, ATargetThatFallsSilentEndsTheRun) {
  OneAnswerTarget target(false);
  RecordSpace space(1000);
  auto figures = RunLoad(&target, SmallMix("ycsb-c"), &space,
                         {.threads = 2, .depth = 2, .operations = 100, .patience_s = 0.3});
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(figures.error().code(), Code::kIoError);
  EXPECT_NE(figures.error().message().find("1 operations are in flight"), std::string::npos);
}

TEST(Load, AConnectionThatClosesBehindAnAnswerEndsTheRun) {
  OneAnswerTarget target(true);
  RecordSpace space(1000);
  auto figures =
      RunLoad(&target, SmallMix("ycsb-c"), &space, {.depth = 2, .seconds = 30, .patience_s = 20});
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(figures.error().ToString(), "i/o error: the server closed the connection");
}

TEST(Load, AClosedLoopCarriesOutAsManyAsAskedFor) {
  for (const uint64_t operations : {1, 2, 1001}) {
    const auto target = Echo(20'000);
    int looks = 0;
    const LoadOptions options{.threads = 3, .depth = 7, .operations = operations, .slice_s = 0.005};
    const LoadFigures figures =
        FiguresOf(target.get(), options, "ycsb-a", {.meanwhile = [&] { looks++; }});
    EXPECT_EQ(figures.operations, operations);
    EXPECT_EQ(figures.outcomes.Total(), operations);
    EXPECT_GE(looks, 1);
    EXPECT_GE(figures.slices.size(), 3u) << "also of those that some thread had nothing to do in";
  }
}

TEST(Load, ASliceTellsReadsFromWrites) {
  SliceBoard board(1, 1);
  Recorder recorder(0, UINT64_MAX, 1, &board);
  for (int kind = 0; kind < kOperationKinds; kind++) {
    const auto one = static_cast<OperationKind>(kind);
    const bool reads = one == OperationKind::kRead || one == OperationKind::kScan;
    recorder.Add(one, 1000, reads ? 2000 : 9000, 1);
  }
  recorder.End(2'500'000'000);
  const std::vector<SliceRow> rows = board.Rows();
  ASSERT_EQ(rows.size(), 2u) << "whole ones";
  EXPECT_EQ(rows[0].operations, 6u);
  EXPECT_NEAR(rows[0].read_p99_us.value_or(0), 2, 0.01);
  EXPECT_NEAR(rows[0].write_p99_us.value_or(0), 9, 0.01);
  EXPECT_FALSE(rows[1].read_p99_us || rows[1].write_p99_us);
}

TEST(Load, ASliceEndsWithTheLastThread) {
  constexpr uint64_t kSecondNs = 1'000'000'000;
  SliceBoard board(2, 1);
  Recorder early(0, 3 * kSecondNs, 1, &board), late(0, 3 * kSecondNs, 1, &board);
  early.Add(OperationKind::kRead, 500'000'000, 1000, 1);
  early.ReachedNs(kSecondNs + 1);
  EXPECT_TRUE(board.Rows().empty());
  // Due in the first second, but told in the next one: the first was handed over.
  early.Add(OperationKind::kRead, 900'000'000, 2 * kSecondNs, 1);
  late.Add(OperationKind::kRead, 2 * kSecondNs - 1, 1000, 1);
  EXPECT_EQ(board.Rows().size(), 1u);
  early.End(4 * kSecondNs);
  late.End(4 * kSecondNs);
  const std::vector<SliceRow> rows = board.Rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].operations, 1u);
  EXPECT_EQ(rows[1].operations, 2u);
  EXPECT_EQ(rows[2].operations, 0u);
  EXPECT_EQ(board.TakeEnded().size(), 3u);
  EXPECT_TRUE(board.TakeEnded().empty());
}

// A closed loop's operations are in the slice in which they ended, so the slices have them all.
TEST(Load, TellsOfSlices) {
  const auto target = Echo(1000);
  const LoadOptions options{.threads = 2, .depth = 10, .seconds = 1, .slice_s = 0.1};
  int begun = 0, ended = 0;
  std::vector<SliceRow> told;
  uint64_t told_operations = 0;
  const auto slice_ended = [&](const SliceRow& row, const base::Histogram& latency_ns) {
    told.push_back(row);
    told_operations += latency_ns.count();
  };
  const LoadFigures figures = FiguresOf(target.get(), options, "ycsb-c",
                                        {.counting_begins = [&] { begun++; },
                                         .slice_ended = slice_ended,
                                         .counting_ends = [&] { ended++; }});
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(ended, 1);
  ASSERT_EQ(figures.slices.size(), 10u);
  ASSERT_EQ(told.size(), 10u);
  uint64_t operations = 0;
  for (size_t i = 0; i < told.size(); i++) {
    operations += figures.slices[i].operations;
    EXPECT_EQ(told[i].operations, figures.slices[i].operations);
    EXPECT_NEAR(told[i].at_s, 0.1 * static_cast<double>(i), 1e-9);
  }
  EXPECT_EQ(operations, figures.operations);
  EXPECT_EQ(told_operations, figures.operations);
}

}  // namespace
}  // namespace weft::bench
