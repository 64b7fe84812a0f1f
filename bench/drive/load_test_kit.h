// bench/drive/load_test_kit.h: for tests: a target that takes down when it was asked and when its
// answers were taken.
//
// All that it does it does in the client's own thread, and its figures bound the client's from both
// sides. So a test compares the two, and holds however busy the machine is and whoever stops.
//
// Units     nanoseconds; instants are base::NowNs.
// Threads   one session, of one thread; the figures once that has ended.
#pragma once

#include <gtest/gtest.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/posix_fd.h"
#include "bench/drive/load.h"
#include "bench/target/target.h"
#include "bench/workload/builtin_mixes.h"

namespace weft::bench {

inline OperationMix SmallMix(const char* name) {
  OperationMix mix = *BuiltinMix(name);
  mix.records = 1000;
  return mix;
}

// Of a run that must go well, on a thousand records.
inline LoadFigures FiguresOf(Target* target, const LoadOptions& options, const char* mix = "ycsb-c",
                             const LoadEvents& events = {}) {
  RecordSpace space(1000);
  auto figures = RunLoad(target, SmallMix(mix), &space, options, events);
  EXPECT_TRUE(figures.has_value()) << figures.error().ToString();
  return figures ? std::move(*figures) : LoadFigures();
}

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

struct DiaryOptions {
  bool is_embedded = false;            // answers before Submit returns
  uint64_t slow_request = UINT64_MAX;  // number, from 0
  uint64_t stall_ns = 0;               // for so long from that request on no answer leaves
  uint64_t pause_ns = 0;  // so long its answer is looked for, as if the client did not run
};

// Answers what was asked at its next tick.
class DiaryTarget final : public BareTarget {
 public:
  struct Request {
    uint64_t asked_ns = 0;  // Submit was called
    uint64_t taken_ns = 0;  // Take returned its outcome
  };

  explicit DiaryTarget(const DiaryOptions& options) : options_(options) {}

  bool is_embedded() const override { return options_.is_embedded; }
  Result<std::unique_ptr<Session>> NewSession() override {
    return std::unique_ptr<Session>(std::make_unique<DiarySession>(this));
  }

  const std::vector<Request>& requests() const { return requests_; }
  // Asked while no answer left.
  int held() const { return held_; }
  // The longest time in which the client's thread did not come by, a stall of an embedded store
  // left out. The session calls it every tick, so this is the client's own.
  uint64_t longest_away_ns() const { return longest_away_ns_; }

 private:
  static constexpr long kTickNs = 200'000;

  class DiarySession final : public Session {
   public:
    explicit DiarySession(DiaryTarget* target) : target_(*target) {
      if (target_.options_.is_embedded) return;
      timer_ = base::Fd(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
      const itimerspec ticks{.it_interval = {0, kTickNs}, .it_value = {0, kTickNs}};
      EXPECT_EQ(timerfd_settime(timer_.get(), 0, &ticks, nullptr), 0);
    }
    Status Submit(std::span<const Operation> operations) override {
      const uint64_t now_ns = target_.Comes();
      for (const Operation& operation : operations) target_.Ask(operation, now_ns);
      target_.Leaves();
      return Status::Ok();
    }
    Status Take(std::vector<Outcome>* outcomes) override {
      target_.Comes();
      uint64_t ticks = 0;
      if (timer_.valid() && read(timer_.get(), &ticks, sizeof ticks) < 0) ticks = 0;
      target_.Answer(outcomes);
      target_.Leaves();
      return Status::Ok();
    }
    int fd() const override { return timer_.get(); }

   private:
    DiaryTarget& target_;
    base::Fd timer_;
  };

  uint64_t Comes() {
    const uint64_t now_ns = base::NowNs();
    longest_away_ns_ = std::max(longest_away_ns_, now_ns - last_ns_);
    last_ns_ = now_ns;
    return now_ns;
  }
  void Leaves() {
    if (options_.is_embedded) last_ns_ = base::NowNs();
  }
  void Ask(const Operation& operation, uint64_t now_ns) {
    const bool is_slow = requests_.size() == options_.slow_request;
    if (is_slow) stall_end_ns_ = now_ns + options_.stall_ns;
    held_ += now_ns < stall_end_ns_;
    if (is_slow && options_.is_embedded) SleepFor(options_.stall_ns);
    has_slow_ |= is_slow;
    asked_.push_back({.tag = operation.tag, .kind = operation.kind, .outcome = OutcomeKind::kDone});
    requests_.push_back({.asked_ns = now_ns});
  }
  void Answer(std::vector<Outcome>* outcomes) {
    if (base::NowNs() < stall_end_ns_) return;
    if (has_slow_) SleepFor(options_.pause_ns);
    has_slow_ = false;
    outcomes->insert(outcomes->end(), asked_.begin(), asked_.end());
    const uint64_t now_ns = base::NowNs();
    for (size_t i = requests_.size() - asked_.size(); i < requests_.size(); i++)
      requests_[i].taken_ns = now_ns;
    asked_.clear();
  }
  static void SleepFor(uint64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

  const DiaryOptions options_;
  uint64_t last_ns_ = base::NowNs();
  uint64_t longest_away_ns_ = 0;
  uint64_t stall_end_ns_ = 0;
  int held_ = 0;
  bool has_slow_ = false;  // among what is asked
  std::vector<Outcome> asked_;
  std::vector<Request> requests_;
};

}  // namespace weft::bench
