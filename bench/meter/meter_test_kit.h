// bench/meter/meter_test_kit.h: time, work and waiting for the tests of meters.
//
// Threads   any.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "base/clock.h"
#include "bench/meter/now.h"
#include "bench/meter/power_sampler.h"

namespace weft::bench {

// Works for this much of the calling thread's own CPU time.
inline void Spin(uint64_t cpu_ns) {
  const uint64_t end = base::ThreadCpuNs() + cpu_ns;
  while (base::ThreadCpuNs() < end) {
  }
}

// A gap for tests of readings: a busy machine may keep the sampler from taking some.
inline constexpr Seconds kAnyGap(60);

// Waits until `sampler` answers with a device's failure. The thread that asks the device may not be
// running; then only readings are missing. Ok: there was no failure for a minute.
inline Status FailureOf(PowerSampler* sampler) {
  for (int looks = 0; looks < 6000; looks++) {  // a minute
    auto used = sampler->Used();
    if (!used && used.error().code() != Code::kInvalidArgument) return used.error();
    usleep(10'000);
  }
  return Status::Ok();
}

// What a meter may report of a constant power. It begins within one call and ends within another;
// on a busy machine the thread may stand still between its readings and the clock's.
class PowerBounds {
 public:
  // Around the call that begins to measure, and around the one that ends it.
  void Before() { before_s_ = NowS(); }
  void Begun() { begun_s_ = NowS(); }
  void Asked() { asked_s_ = NowS(); }
  void Answered() { answered_s_ = NowS(); }

  double Least(double watts) const { return watts * inner_s() / outer_s() * (1 - kRounding); }
  double Most(double watts) const { return watts * outer_s() / inner_s() * (1 + kRounding); }

 private:
  static constexpr double kRounding = 1e-3;
  double inner_s() const { return asked_s_ - begun_s_; }
  double outer_s() const { return answered_s_ - before_s_; }

  double before_s_ = 0, begun_s_ = 0, asked_s_ = 0, answered_s_ = 0;
};

}  // namespace weft::bench
