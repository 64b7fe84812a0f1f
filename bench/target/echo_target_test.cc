#include "bench/target/echo_target.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/target/target_test_kit.h"

namespace weft::bench {
namespace {

// Nanoseconds until the answers to `count` reads that are submitted at once were there, in
// ascending order. Spins: to be woken takes many microseconds on some machines.
std::vector<uint64_t> Latencies(Session* session, int rounds, size_t count) {
  const std::vector<Operation> operations(count);
  std::vector<uint64_t> latencies;
  std::vector<Outcome> outcomes;
  for (int i = 0; i < rounds; ++i) {
    outcomes.clear();
    const uint64_t start = base::NowNs();
    EXPECT_TRUE(session->Submit(operations).ok());
    while (outcomes.size() < count && session->Take(&outcomes).ok()) continue;
    latencies.push_back(base::NowNs() - start);
    EXPECT_EQ(outcomes.size(), count);
  }
  std::sort(latencies.begin(), latencies.end());
  return latencies;
}

TEST(EchoTarget, AnswersAfterItsServiceTime) {
  for (const uint64_t service_ns : {50'000u, 1'000'000u, 5'000'000u}) {
    auto target = EchoTarget::Open({service_ns, 0, 0});
    ASSERT_TRUE(target);
    auto session = (*target)->NewSession();
    ASSERT_TRUE(session);
    const auto latencies = Latencies(session->get(), 40, 32);
    EXPECT_GE(latencies.front(), service_ns);
    const auto figures = (*target)->Figures();
    EXPECT_EQ(figures["answers"], 40 * 32);
    fmt::print(
        "service {} us: taken after {:.1f} us at least, {:.1f} in the median; sent {:.1f} us "
        "late\n",
        service_ns / 1000, static_cast<double>(latencies.front()) * 1e-3,
        static_cast<double>(latencies[20]) * 1e-3, figures["late_us_mean"].get<double>());
  }
}

TEST(EchoTarget, StallsWhenItIsTold) {
  constexpr uint64_t kMs = 1'000'000;
  auto target = EchoTarget::Open({kMs, 0, 0});
  ASSERT_TRUE(target);
  auto session = (*target)->NewSession();
  ASSERT_TRUE(session);
  EXPECT_LT(Latencies(session->get(), 20, 1).front(), 100 * kMs);
  const uint64_t start = base::NowNs();
  (*target)->StallAt(start, 100 * kMs);
  RunOperations(session->get(), std::vector<Operation>(3));
  const uint64_t first_ns = base::NowNs() - start;
  EXPECT_GE(first_ns, 100 * kMs);
  // The quickest of some, for other work may hold up any of them.
  EXPECT_LT(Latencies(session->get(), 20, 1).front(), 100 * kMs) << "the stall is over";
}

TEST(EchoTarget, StallsAfterTheFirstRequest) {
  constexpr uint64_t kMs = 1'000'000;
  const auto options = ParseEcho("10us:80ms@20ms");
  ASSERT_TRUE(options);
  // Once more where other work kept this thread from asking while the target stalled.
  for (bool asked = false; !asked;) {
    auto target = EchoTarget::Open(options.value());
    ASSERT_TRUE(target);
    auto session = (*target)->NewSession();
    ASSERT_TRUE(session);
    const uint64_t end_ns = base::NowNs() + 100 * kMs;  // of the stall, at the soonest
    RunOperations(session->get(), std::vector<Operation>(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    asked = base::NowNs() < end_ns;  // and it has begun
    RunOperations(session->get(), std::vector<Operation>(1));
    EXPECT_GE(base::NowNs(), end_ns);
  }
}

TEST(EchoTarget, AnswersSeveralSessionsAndForgetsThem) {
  auto target = EchoTarget::Open({100'000, 0, 0});
  ASSERT_TRUE(target);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Session>> sessions;
    for (int i = 0; i < 5; ++i) sessions.push_back(std::move((*target)->NewSession().value()));
    for (auto& session : sessions) {
      const auto outcomes = RunOperations(session.get(), std::vector<Operation>(100));
      EXPECT_EQ(outcomes[99].outcome, OutcomeKind::kDone);
      EXPECT_EQ(outcomes[99].records, 1u);
    }
    const std::vector<Operation> left(100);  // nobody waits for the answers
    EXPECT_TRUE(sessions[0]->Submit(left).ok());
  }
}

// More than sockets hold, both ways.
TEST(EchoTarget, AnswersMoreThanASocketHolds) {
  auto target = EchoTarget::Open({0, 0, 0});
  ASSERT_TRUE(target);
  auto session = (*target)->NewSession();
  ASSERT_TRUE(session);
  RunOperations(session->get(), std::vector<Operation>(100'000));
}

TEST(EchoTarget, ParsesItsTimes) {
  EXPECT_EQ(ParseEcho("50us").value().service_ns, 50'000u);
  EXPECT_EQ(ParseEcho("1.5ms").value().service_ns, 1'500'000u);
  const EchoOptions options = ParseEcho("0ns:100ms@2s").value();
  EXPECT_EQ(options.stall_ns, 100'000'000u);
  EXPECT_EQ(options.stall_after_ns, 2'000'000'000u);
  for (const char* text :
       {"", "50", "us", "-1us", "50us:", "50us:1ms", "50us:@1s", "50us:1ms@", "1h"})
    EXPECT_FALSE(ParseEcho(text)) << text;
}

}  // namespace
}  // namespace weft::bench
