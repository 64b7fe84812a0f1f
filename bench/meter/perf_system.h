// bench/meter/perf_system.h: the system calls behind hardware counters, so that a test can be the
// kernel.
//
// Errors    like the calls': -1 and errno.
// Threads   any.
// Source    perf_event_open(2).
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

namespace weft::bench {

class PerfSystem {
 public:
  virtual ~PerfSystem() = default;
  virtual int Open(const perf_event_attr& attributes, pid_t pid, int cpu) = 0;
  virtual ssize_t Read(int fd, void* to, size_t bytes) = 0;
  virtual void Close(int fd) = 0;
  // The first line of kernel.perf_event_paranoid; empty if the kernel has no such setting.
  virtual std::string Paranoid() = 0;

  // The kernel's. Lives as long as the program.
  static PerfSystem* Real();
};

}  // namespace weft::bench
