// bench/meter/process_counts.h: what the kernel has counted for processes and all that they have
// started, as /proc shows it.
//
// A child's figures pass to its parent when the parent has waited for it, so sums over a process
// and its living descendants grow. CPU time alone may lose up to two steps then. Context switches
// alone are kept by thread: those of a thread that has ended are lost, which is why they are given
// thread by thread.
//
// Units     CPU time in seconds. All of a living process is in nanoseconds. Its parts, user and
//           system, and all of a child that has ended, are in steps of 10 ms. Bytes; counts.
// Errors    a part that cannot be read has the reason.
// Threads   any.
// Source    proc(5): stat, io, status, task/TID/children; clock_getcpuclockid(3).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/harness/units.h"
#include "weft/status.h"

namespace weft::bench {

struct StatCounts {
  Seconds user, system;
  Seconds cpu;  // both
  uint64_t minor_faults = 0, major_faults = 0;
};
struct DiskCounts {
  uint64_t read_bytes = 0, written_bytes = 0;  // of the storage, not of the page cache
};
struct SwitchCounts {
  uint64_t voluntary = 0, involuntary = 0;
};
using SwitchesByThread = std::map<pid_t, SwitchCounts>;

// `pids` and their living descendants, each once, except `without` and those that descend from it.
// `proc` is where /proc is, in tests elsewhere.
std::vector<pid_t> WithDescendants(const std::vector<pid_t>& pids, const std::string& proc,
                                   const std::vector<pid_t>& without = {});
// Of all threads, living and ended, of these processes and the children that they waited for.
// kNotFound where one of the processes has ended.
Result<StatCounts> ReadStat(const std::vector<pid_t>& pids, const std::string& proc);
Result<DiskCounts> ReadDisk(const std::vector<pid_t>& pids, const std::string& proc);
Result<uint64_t> ReadResidentBytes(const std::vector<pid_t>& pids, const std::string& proc);
// Of each living thread.
Result<SwitchesByThread> ReadSwitches(const std::vector<pid_t>& pids, const std::string& proc);

// The ids of a process's threads; empty where it has ended.
std::vector<pid_t> ThreadsOf(pid_t pid, const std::string& proc);

}  // namespace weft::bench
