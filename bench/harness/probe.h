// bench/harness/probe.h: hardware counters of a process and joules of the package, where the system
// gives them. Where it does not, the answer is "unavailable", never 0.
//
// Threads: one owner. Read both ends of an interval from the same thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::bench {

// Instructions, cycles and last-level cache misses of every thread that `pid` has now.
class HardwareCounters {
 public:
  explicit HardwareCounters(pid_t pid);
  ~HardwareCounters();
  HardwareCounters(const HardwareCounters&) = delete;
  HardwareCounters& operator=(const HardwareCounters&) = delete;

  struct Reading {
    std::optional<uint64_t> instructions, cycles, cache_misses;
  };
  Reading Read() const;

 private:
  std::vector<int> Open(const std::vector<pid_t>& threads, uint64_t event) const;

  std::vector<int> instructions_, cycles_, cache_misses_;  // one descriptor a thread; empty: none
};

// Joules that the package has used since an unspecified start (RAPL); nothing where unavailable.
std::optional<double> PackageJoules();

// {"instructions_per_op": 812.5 or "unavailable", ...} for what lies between the readings.
nlohmann::json PerOperation(const HardwareCounters::Reading& before,
                            const HardwareCounters::Reading& after,
                            const std::optional<double>& joules_before,
                            const std::optional<double>& joules_after, uint64_t operations);

}  // namespace weft::bench
