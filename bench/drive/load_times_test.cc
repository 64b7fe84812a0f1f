// Are the times that the load generator tells the true ones? What a target took down bounds them.
#include <gtest/gtest.h>

#include <memory>

#include "base/clock.h"
#include "bench/drive/load.h"
#include "bench/drive/load_test_kit.h"
#include "bench/target/echo_target.h"

namespace weft::bench {
namespace {

LoadFigures PatientFiguresOf(Target* target, LoadOptions options) {
  options.patience_s = 60;  // whoever stops
  return FiguresOf(target, options);
}

TEST(LoadTimes, AClosedLoopMeasuresNoLessThanTheServiceTime) {
  for (const uint64_t service_us : {5000u, 20'000u}) {
    auto target = EchoTarget::Open({.service_ns = service_us * 1000});
    ASSERT_TRUE(target.has_value()) << target.error().ToString();
    const LoadFigures figures =
        PatientFiguresOf(target->get(), {.threads = 2, .sessions = 2, .operations = 100});
    EXPECT_EQ(figures.operations, 100u);
    EXPECT_EQ(figures.outcomes.done, 100u);
    EXPECT_GE(figures.latency_ns.min(), service_us * 1000);
    // Each of four sessions has one under way.
    EXPECT_LE(figures.OperationsPerSecond(), 4e6 / static_cast<double>(service_us));
  }
}

// A request's latency begins between the answer before it and its own being asked, and ends between
// its own answer and the next one's being asked.
TEST(LoadTimes, AClosedLoopMeasuresWhatTheTargetTookDown) {
  constexpr uint64_t kOperations = 500;
  DiaryTarget target({});
  const uint64_t begin_ns = base::NowNs();
  const LoadFigures figures = PatientFiguresOf(&target, {.operations = kOperations});
  const uint64_t end_ns = base::NowNs();
  const auto& requests = target.requests();
  ASSERT_EQ(requests.size(), kOperations);
  base::Histogram least_ns, most_ns;
  for (size_t i = 0; i < kOperations; i++) {
    least_ns.Record(requests[i].taken_ns - requests[i].asked_ns);
    most_ns.Record((i + 1 < kOperations ? requests[i + 1].asked_ns : end_ns) -
                   (i > 0 ? requests[i - 1].taken_ns : begin_ns));
  }
  EXPECT_EQ(figures.latency_ns.count(), kOperations);
  EXPECT_GE(figures.latency_ns.min(), least_ns.min());
  EXPECT_LE(figures.latency_ns.min(), most_ns.min());
  for (const double percent : {1.0, 5.0, 50.0, 95.0, 100.0}) {
    EXPECT_GE(figures.latency_ns.Percentile(percent), least_ns.Percentile(percent)) << percent;
    EXPECT_LE(figures.latency_ns.Percentile(percent), most_ns.Percentile(percent)) << percent;
  }
}

double SumS(const base::Histogram& ns) {
  return ns.Mean() * static_cast<double>(ns.count()) * 1e-9;
}

// The stall delays two fifths of what is due in a second. An open loop sees all of it; a closed
// one, with one request under way, sees a single one.
TEST(LoadTimes, AnOpenLoopSeesAStallThatAClosedOneHides) {
  constexpr uint64_t kStallNs = 400'000'000;
  const DiaryOptions stall{.slow_request = 200, .stall_ns = kStallNs};
  DiaryTarget open_target(stall), closed_target(stall);
  LoadOptions options{.depth = 1000, .seconds = 1};
  options.rate = RateSchedule::Constant(1000);
  const base::Histogram open_ns = PatientFiguresOf(&open_target, options).latency_ns;
  const uint64_t begin_ns = base::NowNs();
  const base::Histogram closed_ns =
      PatientFiguresOf(&closed_target, {.operations = 300}).latency_ns;
  const double closed_s = static_cast<double>(base::NowNs() - begin_ns) * 1e-9;
  EXPECT_GE(open_ns.max(), kStallNs);
  EXPECT_GE(closed_ns.max(), kStallNs) << "it did stall";
  // What was due in the stall's first half waited for half of it, or more.
  EXPECT_GE(open_ns.Percentile(85), kStallNs / 2);
  EXPECT_EQ(closed_target.held(), 1);
  // Of what was due each waited for the rest of the stall. In a closed loop one waits at a time, so
  // all together do no longer than the run took.
  EXPECT_GE(SumS(open_ns), 0.4 * 400 / 2);
  EXPECT_LE(SumS(closed_ns), closed_s);
}

// What waits for a session waits for the store, however many wait: the client is not the limit. It
// is late with none by more than what it did between three calls of its session: one that takes an
// answer, one that asks, and one more where it was stopped.
TEST(LoadTimes, AStallIsNoneOfTheClientsLateness) {
  constexpr uint64_t kStallNs = 600'000'000;
  for (const bool is_embedded : {false, true}) {
    DiaryTarget target({.is_embedded = is_embedded, .slow_request = 50, .stall_ns = kStallNs});
    LoadOptions options{.seconds = 1};
    options.rate = RateSchedule::Constant(500);
    const LoadFigures figures = PatientFiguresOf(&target, options);
    EXPECT_GE(figures.latency_ns.max(), kStallNs) << is_embedded;
    EXPECT_EQ(figures.lag_ns.count(), figures.operations) << is_embedded;
    EXPECT_LE(figures.lag_ns.max(), 3 * target.longest_away_ns()) << is_embedded;
  }
}

// All that was due in it is late, not the first one alone, though the others wait for a session.
TEST(LoadTimes, APauseOfTheClientIsItsOwnLateness) {
  constexpr uint64_t kPauseNs = 400'000'000;
  DiaryTarget target({.slow_request = 50, .pause_ns = kPauseNs});
  LoadOptions options{.seconds = 1};
  options.rate = RateSchedule::Constant(500);
  const LoadFigures figures = PatientFiguresOf(&target, options);
  EXPECT_GE(figures.latency_ns.max(), kPauseNs) << "it did pause";
  // Two fifths were due in it.
  EXPECT_GE(figures.lag_ns.Percentile(75), kPauseNs / 10);
  EXPECT_TRUE(figures.ClientSaturated(target, true));
}

}  // namespace
}  // namespace weft::bench
