// bench/meter/perf_meter.h: hardware counters of the processes under measurement, and of each CPU
// if the system shows the whole machine.
//
// Readings  instructions, cycles, branches, branch_misses, cache_references, cache_misses (of the
//           last level); with `by_cpu` also machine_instructions and so on, of all that ran, with
//           each CPU's share.
// Needs     counters, which most virtual machines lack; kernel.perf_event_paranoid of at most 2, or
//           CAP_PERFMON; for the machine's, at most 0. If the kernel's own share may not be seen,
//           the source says "user only".
// Limits    more events than counters take turns: counts are scaled by enabled / running time.
//           Threads that start later are counted (they inherit); processes that do not descend from
//           `pids` are not. All threads count or none: a sum over some would be wrong.
// Threads   one owner, as bench/meter/meter.h says.
// Source    perf_event_open(2); paper 002, section 3.4.
#pragma once

#include <optional>

#include "bench/meter/meter.h"
#include "bench/meter/perf_system.h"
#include "weft/status.h"

namespace weft::bench {

class PerfMeter : public Meter {
 public:
  struct Options {
    bool by_cpu = false;
    std::vector<int> cpus;            // for by_cpu
    std::vector<pid_t> without = {};  // processes that are not counted
    PerfSystem* system = PerfSystem::Real();
    std::string proc = "/proc";
  };
  explicit PerfMeter(Options options) : options_(std::move(options)) {}
  PerfMeter() : PerfMeter(Options()) {}
  ~PerfMeter() override;
  PerfMeter(const PerfMeter&) = delete;
  PerfMeter& operator=(const PerfMeter&) = delete;

  void Start(const std::vector<pid_t>& pids) override;
  Readings Stop() override;

  // Why event `config` could not be opened, in words of use to whoever can change it.
  static std::string Reason(int error_number, const std::string& paranoid, bool whole_machine);

 private:
  // What the kernel returns by a read in the format asked for.
  struct Raw {
    uint64_t value, enabled_ns, running_ns;
  };
  struct Place {
    pid_t pid;
    int cpu;
  };
  // One event in all of its places.
  struct Counter {
    std::string name;
    std::vector<int> fds;
    std::vector<Raw> before;
    bool user_only = false;
    std::string reason;  // why it is not there, otherwise empty
  };

  Counter Open(const std::string& name, uint64_t config, const std::vector<Place>& places);
  // 0, or the number of the error that the kernel gave; then nothing is left open.
  int TryOpen(uint64_t config, bool user_only, const std::vector<Place>& places,
              std::vector<int>* fds);
  Result<std::vector<Raw>> ReadAll(const std::vector<int>& fds) const;
  Reading ReadingOf(const Counter& counter, bool by_cpu) const;
  void CloseAll();

  const Options options_;
  std::vector<Counter> of_processes_;
  std::vector<Counter> of_machine_;
};

}  // namespace weft::bench
