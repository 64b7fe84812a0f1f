// base/idle_cpus.h: how many of this process's CPUs nobody uses at present: the machine's idle
// share, of as many as the process may run on. What a control group allows of them is not known
// here.
//
// Threads   any.
// Errors    where the system does not say, all of them are taken to be idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/mutex.h"

namespace weft::base {

// What the CPUs have done since the machine started, in the kernel's ticks.
struct CpuTicks {
  uint64_t idle = 0;  // waiting for disks, too
  uint64_t all = 0;
};

// The first line of /proc/stat (proc(5)); none where it is another.
std::optional<CpuTicks> ParseCpuTicks(std::string_view stat);

class IdleCpus {
 public:
  IdleCpus();

  // In the mean since the last call that was at least kWindowNs ago; all of them before the second.
  // Reads a file of the kernel's.
  double Count() WEFT_EXCLUDES(mutex_);
  // What Count returned last.
  double last() const WEFT_EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    return count_;
  }

  // Those that the process may run on.
  double cpus() const { return cpus_; }

  static constexpr uint64_t kWindowNs = 200'000'000;  // some of the kernel's ticks

 private:
  const double cpus_;
  mutable Mutex mutex_;
  uint64_t read_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  CpuTicks ticks_ WEFT_GUARDED_BY(mutex_);
  double count_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::base
