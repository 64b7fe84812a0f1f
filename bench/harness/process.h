// bench/harness/process.h: a server under measurement: started, watched through /proc, and ended by
// its id.
//
// Units     CPU seconds are those of all threads, in nanoseconds. Their parts, user and system, are
//           utime and stime of /proc/PID/stat, in steps of 10 ms.
//           Resident bytes are Rss of smaps_rollup, so huge pages count in full.
// Threads   one owner; the reading calls may be made from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

struct CpuSeconds {
  double user = 0;
  double system = 0;
  double total = 0;  // in finer steps than user and system
  friend CpuSeconds operator-(const CpuSeconds& a, const CpuSeconds& b) {
    return {a.user - b.user, a.system - b.system, a.total - b.total};
  }
};

// Path of a program: itself if it has a slash, otherwise the first in PATH, as a shell finds it.
// kNotFound: there is none that may be run.
Result<std::string> FindProgram(const std::string& name);

class Process {
 public:
  // Starts `command` on `cpus` (empty: any) with its output in `log_path`. The child dies with us.
  static Result<std::unique_ptr<Process>> Start(const std::vector<std::string>& command,
                                                const std::vector<int>& cpus,
                                                const std::string& log_path);
  // Asks it to end (SIGTERM), waits up to 5 s, then kills it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Has it ended by itself?
  bool Ended();
  CpuSeconds Cpu() const;
  uint64_t ResidentBytes() const;
  // Part of ResidentBytes that lies in transparent huge pages.
  uint64_t HugePageBytes() const;

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  bool ended_ = false;
};

// CPU seconds of all threads of a process, ended ones too, in nanoseconds. A thread that runs
// counts as of its last tick. None: there is no such process, or the kernel does not tell.
std::optional<double> CpuSecondsOf(pid_t pid);

// The same readings of any process ("self" too).
uint64_t ResidentBytesOf(const std::string& pid);
uint64_t HugePageBytesOf(const std::string& pid);

}  // namespace weft::bench
