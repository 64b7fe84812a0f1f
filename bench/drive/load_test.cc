// The load generator against targets whose answers are known: does it tell the truth?
#include "bench/drive/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "bench/target/echo_target.h"
#include "bench/target/memcached_session.h"
#include "bench/target/target_test_kit.h"
#include "bench/workload/builtin_mixes.h"

namespace weft::bench {
namespace {

OperationMix SmallMix(const char* name) {
  OperationMix mix = *BuiltinMix(name);
  mix.records = 1000;
  return mix;
}

double MeanUs(const base::Histogram& latency_ns) { return latency_ns.Mean() * 1e-3; }

std::unique_ptr<EchoTarget> Echo(uint64_t service_us) {
  auto target = EchoTarget::Open({.service_ns = service_us * 1000});
  EXPECT_TRUE(target.has_value()) << target.error().ToString();
  return std::move(*target);
}

// What the echo target says that this machine added.
double LateUs(EchoTarget* target) { return target->Figures().value("late_us_mean", 0.0); }

// A target that has nothing but its sessions.
class BareTarget : public Target {
 public:
  std::string Title() const override { return "bare"; }
  nlohmann::json Settings() const override { return nlohmann::json::object(); }
  std::string WhyNot(OperationKind) const override { return ""; }
  Status Clear() override { return Status::Ok(); }
  std::vector<pid_t> Processes() const override { return {}; }
  bool is_embedded() const override { return true; }
};

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

// Answers the first of what it is asked, and closes the connection in the same moment.
class ClosingTarget final : public BareTarget {
 public:
  Result<std::unique_ptr<Session>> NewSession() override {
    return std::unique_ptr<Session>(new ClosingSession(format_));
  }

 private:
  class ClosingSession final : public Session {
   public:
    explicit ClosingSession(const RecordFormat& format)
        : session_(std::make_unique<Stream>(server_.session_fd()), format, false) {}
    Status Submit(std::span<const Operation> operations) override {
      Status status = session_.Submit(operations);
      server_.Asked();
      server_.Answer("END\r\n");
      server_.Close();
      return status;
    }
    Status Take(std::vector<Outcome>* outcomes) override { return session_.Take(outcomes); }
    int fd() const override { return session_.fd(); }

   private:
    ServerEnd server_;
    MemcachedSession session_;
  };

  const RecordFormat format_ = RecordFormat::OfSizes(16, 64);
};

// Other work on this machine makes answers late, never early: the quickest twentieth of a run, and
// one quiet run of some, say what the client adds.
constexpr int kAttempts = 8;
constexpr double kQuickestPercent = 5;

// By how much the quickest ones are above what the target takes: 0.02 is 2 %.
double ErrorOfQuickest(uint64_t service_us) {
  const auto target = Echo(service_us);
  RecordSpace space(1000);
  const LoadOptions options{.threads = 2, .sessions = 2, .warmup_s = 0.1, .seconds = 0.5};
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  EXPECT_TRUE(figures.has_value()) << figures.error().ToString();
  if (!figures) return 0;
  EXPECT_GE(figures->latency_ns.min(), service_us * 1000);
  // Each of four sessions has one under way.
  const double most = 4e6 / static_cast<double>(service_us);
  EXPECT_LE(figures->OperationsPerSecond(), 1.05 * most);
  EXPECT_GT(figures->operations, 0u);
  EXPECT_EQ(figures->outcomes.done, figures->operations);
  const auto error_of = [&](double percent) {
    return static_cast<double>(figures->latency_ns.Percentile(percent)) * 1e-3 /
               static_cast<double>(service_us) -
           1;
  };
  std::cout << service_us << " us: median " << 100 * error_of(50) << " % more, the target late by "
            << LateUs(target.get()) << " us in the mean\n";
  return error_of(kQuickestPercent);
}

TEST(Load, AClosedLoopMeasuresAKnownServiceTime) {
  for (const uint64_t service_us : {5000u, 20'000u}) {
    double least = 1;
    for (int i = 0; i < kAttempts && least > 0.02; i++)
      least = std::min(least, std::abs(ErrorOfQuickest(service_us)));
    EXPECT_LE(least, 0.02) << service_us;
  }
}

TEST(Load, AnOpenLoopKeepsItsSchedule) {
  const auto target = Echo(1000);
  RecordSpace space(1000);
  LoadOptions options{.threads = 2, .sessions = 4, .depth = 8, .warmup_s = 0.1, .seconds = 1};
  options.rate = RateSchedule::Constant(2000);
  auto figures = RunLoad(target.get(), SmallMix("ycsb-a"), &space, options);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_NEAR(static_cast<double>(figures->operations), 2000, 2);
  EXPECT_GE(figures->latency_ns.min(), 1'000'000u);
  const double reads =
      static_cast<double>(figures->by_kind[static_cast<size_t>(OperationKind::kRead)].count());
  EXPECT_NEAR(reads, 1000, 120);
}

TEST(Load, AnOpenLoopSendsBursts) {
  const auto target = Echo(1000);
  RecordSpace space(1000);
  LoadOptions options{.sessions = 2, .more_sessions = 1, .depth = 8, .burst = 8, .seconds = 1};
  options.rate = RateSchedule::Constant(100);
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_NEAR(static_cast<double>(figures->operations), 800, 16);
  EXPECT_EQ(figures->operations % 8, 0u);
  EXPECT_EQ(figures->outcomes.done, figures->operations);
  EXPECT_GE(figures->latency_ns.min(), 1'000'000u);
}

constexpr uint64_t kStallNs = 400'000'000;  // longer than a busy machine's own pauses
base::Histogram LatenciesWithAStall(bool is_open) {
  const auto target = Echo(200);
  RecordSpace space(1000);
  LoadOptions options{.seconds = 1};
  if (is_open) {
    options.rate = RateSchedule::Constant(1000);
    options.depth = 1000;
  }
  target->StallAt(base::NowNs() + 200'000'000, kStallNs);
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  EXPECT_TRUE(figures.has_value()) << figures.error().ToString();
  return figures ? figures->latency_ns : base::Histogram();
}

// The stall delays two fifths of what is due in a second. An open loop sees all of it; a closed
// one, with one request under way, sees a single one.
TEST(Load, AnOpenLoopSeesAStallThatAClosedOneHides) {
  const base::Histogram open = LatenciesWithAStall(true);
  base::Histogram closed = LatenciesWithAStall(false);
  for (int i = 1; i < kAttempts && closed.Percentile(96) >= kStallNs / 10; i++)
    closed = LatenciesWithAStall(false);
  // What was due in the stall's first half waited for half of it, or more.
  EXPECT_GE(open.Percentile(96), kStallNs / 3);
  EXPECT_GE(open.max(), kStallNs * 95 / 100);
  EXPECT_LT(closed.Percentile(96), kStallNs / 10);
  EXPECT_GE(closed.max(), kStallNs * 95 / 100) << "it did stall";
  EXPECT_GT(MeanUs(open), 3 * MeanUs(closed));
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
  RecordSpace space(1000);
  LoadOptions options{.seconds = 0.1, .patience_s = 5};
  options.rate = RateSchedule::Constant(1000);
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_NEAR(static_cast<double>(figures->operations), 100, 2);
}

// What waits for a session waits for the store, however many wait: the client is not the limit.
TEST(Load, AStallIsNoneOfTheClientsLateness) {
  constexpr uint64_t kLongStallNs = 600'000'000;
  const auto server = Echo(200);
  const auto embedded = PausesOnce(kLongStallNs / 1'000'000);
  for (Target* target :
       {static_cast<Target*>(server.get()), static_cast<Target*>(embedded.get())}) {
    RecordSpace space(1000);
    LoadOptions options{.sessions = 2, .seconds = 1};
    options.rate = RateSchedule::Constant(500);
    server->StallAt(base::NowNs() + 100'000'000, kLongStallNs);
    auto figures = RunLoad(target, SmallMix("ycsb-c"), &space, options);
    ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
    EXPECT_GE(figures->latency_ns.max(), kLongStallNs * 95 / 100) << target->Title();
    EXPECT_LT(figures->lag_ns.Percentile(99), kLongStallNs / 3) << target->Title();
  }
}

// Takes what the other one gives, but pauses once before it looks: as if it had not run.
class PausedSession final : public Session {
 public:
  PausedSession(std::unique_ptr<Session> session, uint64_t at_ns, uint64_t pause_ns)
      : session_(std::move(session)), at_ns_(at_ns), pause_ns_(pause_ns) {}
  Status Submit(std::span<const Operation> operations) override {
    return session_->Submit(operations);
  }
  Status Take(std::vector<Outcome>* outcomes) override {
    if (base::NowNs() >= at_ns_) {
      at_ns_ = UINT64_MAX;
      std::this_thread::sleep_for(std::chrono::nanoseconds(pause_ns_));
    }
    return session_->Take(outcomes);
  }
  int fd() const override { return session_->fd(); }
  bool wants_to_write() const override { return session_->wants_to_write(); }
  std::string FirstError() const override { return session_->FirstError(); }

 private:
  const std::unique_ptr<Session> session_;
  uint64_t at_ns_;
  const uint64_t pause_ns_;
};

class PausedTarget final : public Target {
 public:
  PausedTarget(Target* target, uint64_t at_ns, uint64_t pause_ns)
      : target_(*target), at_ns_(at_ns), pause_ns_(pause_ns) {}
  std::string Title() const override { return target_.Title(); }
  nlohmann::json Settings() const override { return target_.Settings(); }
  std::string WhyNot(OperationKind kind) const override { return target_.WhyNot(kind); }
  Result<std::unique_ptr<Session>> NewSession() override {
    auto session = target_.NewSession();
    if (!session) return session.error();
    return std::unique_ptr<Session>(
        std::make_unique<PausedSession>(std::move(*session), at_ns_, pause_ns_));
  }
  Status Clear() override { return target_.Clear(); }
  std::vector<pid_t> Processes() const override { return {}; }
  bool is_embedded() const override { return false; }

 private:
  Target& target_;
  const uint64_t at_ns_, pause_ns_;
};

// All that was due in it is late, not the first one alone, though the others wait for a session.
TEST(Load, APauseOfTheClientIsItsOwnLateness) {
  constexpr uint64_t kPauseNs = 400'000'000;
  const auto server = Echo(200);
  PausedTarget target(server.get(), base::NowNs() + 200'000'000, kPauseNs);
  RecordSpace space(1000);
  LoadOptions options{.sessions = 1, .seconds = 1};
  options.rate = RateSchedule::Constant(500);
  auto figures = RunLoad(&target, SmallMix("ycsb-c"), &space, options);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_GE(figures->latency_ns.max(), kPauseNs * 95 / 100) << "it did pause";
  // Two fifths were due in it.
  EXPECT_GE(figures->lag_ns.Percentile(75), kPauseNs / 10);
  EXPECT_TRUE(figures->ClientSaturated(target, true));
}

// Where all sessions are full what is due waits, and its clock runs.
TEST(Load, AnOpenLoopTellsWhatWasDoneNotWhatWasAskedFor) {
  const auto target = Echo(5000);  // two at a time: 400 a second
  RecordSpace space(1000);
  LoadOptions options{.threads = 1, .sessions = 2, .depth = 1, .seconds = 0.5};
  options.rate = RateSchedule::Constant(800);
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_NEAR(400, static_cast<double>(figures->operations), 3);
  EXPECT_LE(figures->OperationsPerSecond(), 401);
  EXPECT_GE(figures->seconds, 0.99);
}

TEST(Load, APauseAtTheEndOfAScheduleCounts) {
  const auto target = Echo(100);
  RecordSpace space(1000);
  LoadOptions options{.threads = 2, .sessions = 1, .depth = 1, .seconds = 0.6};
  options.rate = *RateSchedule::Parse("1000 for 200ms, 0 for 10s");
  bool has_ended = false;
  LoadEvents events;
  events.counting_ends = [&] { has_ended = true; };
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options, events);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_NEAR(200, static_cast<double>(figures->operations), 3);
  EXPECT_NEAR(0.6, figures->seconds, 1e-6);
  EXPECT_TRUE(has_ended);
}

TEST(Load, ARateThatCannotBeEndsTheRun) {
  const auto target = Echo(20'000);  // one at a time: 50 a second
  RecordSpace space(1000);
  LoadOptions options{.threads = 1, .sessions = 1, .depth = 1, .seconds = 0.05};
  options.patience_s = 0.2;
  options.rate = RateSchedule::Constant(1e6);
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(Code::kRetryLater, figures.error().code());
}

TEST(Load, WaitingForASessionCounts) {
  const auto target = Echo(10'000);
  RecordSpace space(1000);
  LoadOptions options{.seconds = 0.5};
  options.rate = RateSchedule::Constant(200);  // twice of what one session can have
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space, options);
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_NEAR(static_cast<double>(figures->operations), 100, 2);
  EXPECT_GE(figures->latency_ns.max(), 400'000'000u) << "the last one waits for half a second";
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

TEST(Load, ATargetThatFallsSilentEndsTheRun) {
  const auto target = Echo(100);
  RecordSpace space(1000);
  target->StallAt(base::NowNs(), 3'000'000'000);
  const uint64_t begin_ns = base::NowNs();
  auto figures = RunLoad(target.get(), SmallMix("ycsb-c"), &space,
                         {.threads = 2, .seconds = 30, .patience_s = 0.3});
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(figures.error().code(), Code::kIoError);
  EXPECT_LT(base::NowNs() - begin_ns, 30'000'000'000u) << "the run went on to its end";
}

TEST(Load, AConnectionThatClosesBehindAnAnswerEndsTheRun) {
  ClosingTarget target;
  RecordSpace space(1000);
  auto figures =
      RunLoad(&target, SmallMix("ycsb-c"), &space, {.depth = 2, .seconds = 30, .patience_s = 20});
  ASSERT_FALSE(figures.has_value());
  EXPECT_EQ(figures.error().ToString(), "i/o error: the server closed the connection");
}

TEST(Load, AClosedLoopCarriesOutAsManyAsAskedFor) {
  for (const uint64_t operations : {1, 2, 1001}) {
    const auto target = Echo(20'000);
    RecordSpace space(1000);
    int looks = 0;
    const LoadOptions options{.threads = 3, .depth = 7, .operations = operations, .slice_s = 0.005};
    auto figures =
        RunLoad(target.get(), SmallMix("ycsb-a"), &space, options, {.meanwhile = [&] { looks++; }});
    ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
    EXPECT_EQ(figures->operations, operations);
    EXPECT_EQ(figures->outcomes.Total(), operations);
    EXPECT_GE(looks, 1);
    EXPECT_GE(figures->slices.size(), 3u) << "also of those that some thread had nothing to do in";
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

TEST(Load, TellsOfSlices) {
  const auto target = Echo(1000);
  RecordSpace space(1000);
  LoadOptions options{.threads = 2, .seconds = 1, .slice_s = 0.1};
  options.rate = RateSchedule::Constant(1000);
  options.depth = 100;
  int begun = 0, ended = 0;
  std::vector<SliceRow> told;
  auto figures = RunLoad(
      target.get(), SmallMix("ycsb-c"), &space, options,
      {.counting_begins = [&] { begun++; },
       .slice_ended = [&](const SliceRow& row, const base::Histogram&) { told.push_back(row); },
       .counting_ends = [&] { ended++; }});
  ASSERT_TRUE(figures.has_value()) << figures.error().ToString();
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(ended, 1);
  ASSERT_GE(figures->slices.size(), 9u);
  uint64_t operations = 0;
  for (const SliceRow& row : figures->slices) operations += row.operations;
  EXPECT_NEAR(static_cast<double>(operations), 1000, 120);
  EXPECT_GE(told.size(), 5u);
}

}  // namespace
}  // namespace weft::bench
