// sim/figure/runner.h: many independent runs, some at once, each of them only once: start here.
//
//     Case x seeds --> jobs --> RunFigures, a seed each
//
// The first memory commands of each case's first run are checked against the memory's rules
// (dram/command_checker.h).
//
// Threads   one owner; it has its own threads.
// Errors    simulation.h's. kCorruption: the memory broke one of its rules. kNoMemory: a run found
//           no more.
// Source    the simulator's specification, sections 3.8, 4.1 (T26) and 5.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "sim/run/simulation.h"

namespace weft::sim {

// What is simulated; its seed is the runner's.
struct Case {
  RunOptions run;
  PrefetchOptions prefetch;

  // The same without a unit.
  Case Baseline() const { return {.run = run, .prefetch = {}}; }
};
// Two cases of the same text are the same case.
std::string KeyOf(const Case& of);

// Of a run. Latencies in core cycles, as in run_result.h.
struct RunFigures {
  double m1_cycles = 0;
  double m2_cycles = 0;
  double m3_cycles = 0;
  double op_cycles = 0;  // M4, the mean
  double op_p99_cycles = 0;
  double ops_per_second = 0;  // M5
  double bus_utilization = 0;
  double nj_per_op = 0;  // 0 where no currents are known
  double power_w = 0;
  int64_t object_misses = 0;
  int64_t lost_l2_hits = 0;
  int64_t requests = 0;  // of DRAM
  PrefetchFigures prefetch = {};
  UnitCounts units = {};
};

class Runner {
 public:
  struct Options {
    int jobs = 1;   // at once
    int seeds = 5;  // runs of a case that depends on it
    uint64_t first_seed = 1;
    int64_t commands_checked = 100'000;                             // of a case; 0: none
    std::function<void(size_t done, size_t all)> on_progress = {};  // by one thread at a time
  };
  // REQUIRES: jobs and seeds are above 0
  explicit Runner(Options options) : options_(std::move(options)) {}

  // Runs the cases that it hasn't run yet.
  Status Run(const std::vector<Case>& cases);
  // By seed; only one if the case doesn't depend on it (run/idle_options.h). REQUIRES: it was run
  const std::vector<RunFigures>& Of(const Case& of) const { return done_.at(KeyOf(of)); }

  int64_t runs() const { return runs_; }
  int64_t requests() const { return requests_; }  // of DRAM, of all runs
  int64_t commands_checked() const { return commands_checked_; }
  // Of runs that played less than was asked for.
  const std::set<std::string>& notes() const { return notes_; }

 private:
  struct Job {
    Case of;
    std::vector<RunFigures>* figures;
    size_t seed;        // from 0
    std::string store;  // as text
  };
  struct Played {
    RunFigures figures;
    int64_t commands_checked = 0;
    std::string note = {};  // empty: none
  };
  Result<Played> Play(const Job& job, SourceMaker* maker) const;
  Result<Played> PlayInMemory(const Job& job, SourceMaker* maker) const;
  Status Perform(const std::vector<Job>& jobs) WEFT_EXCLUDES(mutex_);
  // Performs jobs that nobody has begun, until there are none or one of them fails.
  void Work(const std::vector<Job>& jobs) WEFT_EXCLUDES(mutex_);
  const Job* Take(const std::vector<Job>& jobs) WEFT_EXCLUDES(mutex_);
  void Keep(const Job& job, const Result<Played>& played, size_t jobs) WEFT_EXCLUDES(mutex_);

  const Options options_;
  std::map<std::string, std::vector<RunFigures>> done_;
  int64_t runs_ = 0;
  int64_t requests_ = 0;
  int64_t commands_checked_ = 0;
  std::set<std::string> notes_;

  base::Mutex mutex_;  // of the jobs under way
  size_t begun_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t over_ WEFT_GUARDED_BY(mutex_) = 0;
  Status status_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::sim
