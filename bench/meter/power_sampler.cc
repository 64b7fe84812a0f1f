#include "bench/meter/power_sampler.h"

#include <algorithm>
#include <chrono>

#include "base/thread.h"
#include "bench/meter/now.h"

namespace weft::bench {
namespace {

constexpr Seconds kNap(0.02);  // so that End waits no longer

}  // namespace

PowerSampler::~PowerSampler() { End(); }

void PowerSampler::End() {
  {
    const base::MutexLock lock(&mutex_);
    ending_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

Status PowerSampler::TakeOne() {
  auto power = read_();
  const Seconds at = Now();
  const base::MutexLock lock(&mutex_);
  if (!power) {
    last_failure_ = power.error();
    return power.error();
  }
  return trace_.Add(at, *power);
}

Status PowerSampler::Start() {
  End();
  {
    const base::MutexLock lock(&mutex_);
    trace_ = PowerTrace();
    last_failure_ = Status::Ok();
    ending_ = false;
  }
  if (Status status = TakeOne(); !status.ok()) return status;
  begin_ = Now();
  thread_ = std::thread([this] { Run(); });
  return Status::Ok();
}

void PowerSampler::Run() {
  base::SetThreadName("power-sampler");
  for (Seconds due = begin_ + interval_;; due += interval_) {
    for (Seconds left = due - Now(); left > Seconds(0); left = due - Now()) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, kNap).value()));
      const base::MutexLock lock(&mutex_);
      if (ending_) return;
    }
    if (Now() - due > interval_) due = Now();  // what was slept through is not made up for
    (void)TakeOne();                           // kept as last_failure_
    const base::MutexLock lock(&mutex_);
    if (ending_) return;
  }
}

Result<Joules> PowerSampler::Used() {
  const base::MutexLock lock(&mutex_);
  auto energy = trace_.Between(begin_, Now(), gap_max_);
  if (!energy && !last_failure_.ok()) return last_failure_;
  return energy;
}

}  // namespace weft::bench
