// planner/planner.h: follows the workload of a server or a benchmark, and chooses the plan for its
// workers' batches.
//
// Each worker counts its batches (planner/profiler.h). Once one has counted enough since the last
// look, it looks: it makes a window of all counts and compares it with the earlier ones. If the
// workload has changed, it estimates all plans anew. So the planner needs no thread. A window has a
// minimum of queries, so that it says something: at 10 M queries/s of a worker they come every 0.2
// ms. It also lasts a minimum of time, so that a worker that leaves the work to a device isn't busy
// looking.
//
// Windows   are added up while they are alike (IsAnother). As a rule, one that is not has the
//           change in its middle; the next one replaces it, and is planned for. A span of several
//           windows is compared, too, which shows smaller changes. At its end the planner checks
//           how far the sum is from the workload planned for (HasMoved), and learns from the tasks'
//           times (planner/learner.h).
// Trials    a plan's yield, the part of its prediction that it reaches, is measured over
//           kTrialWindows windows, or until the workload changes. They start kTrialRest windows
//           after a change of workload or plan. The yield is kept (planner/yields.h). It counts
//           when the workload returns, and during its stay after Yields::kTrials trials. On a
//           server, only while its workers have no time to spare: a smaller load shows nothing.
// Plans     change if another one is predicted to be better by more than Options::hysteresis. One
//           stage on the CPU gets a bonus of kDeviceGainMin, or of kKnownGainMin over a plan that
//           is known (planner/search.h). While a workload stays, plans predicted nearly as good are
//           tried, too (planner/exploration.h).
// Figures   may come later (Adopt): until then all is one stage, and the workload is only followed.
// Memory    a decision stays while some worker uses it: at most one a worker, and the one in force.
// Threads   Note, Current: each worker's own. Others: any.
// Lock      mutex_, which a worker only tries; docs/concurrency.md.
// Cost      Note, Current: some nanoseconds; a look: about a microsecond, and half of one for each
//           worker, twice that during a trial; planning: planner/search.h.
//           build/release/src/planner/planner_bench.
// Source    paper 000, sections III-A and IV.
#pragma once

#include <atomic>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/ticks.h"
#include "cache/store.h"
#include "pipeline/plan_runner.h"
#include "planner/exploration.h"
#include "planner/learner.h"
#include "planner/profiler.h"
#include "planner/search.h"
#include "planner/yields.h"

namespace weft::planner {

// Immutable once in force.
struct Decision {
  // 0: the first; a new one if plan, stealing, the least batch or the workload changed.
  uint64_t number = 0;
  uint64_t workload = 0;  // a number of the counts: alike workloads have the same
  Candidate candidate;
  uint32_t device_batch_min = 0;  // a batch of fewer queries goes through one stage on the CPU
  Estimate estimate;              // for `profile`, with its yield
  double yield = 1;               // planner/yields.h
  Profile profile;
  std::string why;
};

struct PlanChange {
  uint64_t at_ns = 0;  // by the planner's clock
  Candidate from, to;
  double promise = 0;  // queries/s
  std::string why;
};

struct PlannerStats {
  Decision decision;                     // in force
  std::string last_change;               // the reason of the last change; empty: there was none
  std::vector<PlanChange> last_changes;  // up to Planner::kChangesKept, the oldest first
  uint64_t changes = 0;                  // of the plan
  uint64_t plannings = 0;                // times that all plans were estimated
  uint64_t windows = 0;
  Profile profile;                    // of the time since the last change
  double measured_queries_per_s = 0;  // between two looks half a second ago, or reads of this
  // Learned factors: the time of each task on the CPU, and of each device, as a multiple of the
  // calibrated one.
  TaskNs task_factors{};
  std::vector<double> device_factors;
  double sockets_ns = 0;      // a query, of a worker's time
  size_t decisions_kept = 0;  // for workers, besides the one in force
};

class Planner {
 public:
  static constexpr size_t kChangesKept = 32;

  struct Options {
    Conditions conditions;  // of conditions.workers workers
    // Assumed until somebody has counted.
    Profile profile;
    uint32_t window_queries = 2048;  // of one worker, at least
    uint32_t window_us = 200;        // at least
    double hysteresis = 0.02;        // of throughput, or of latency if nothing fits
    bool learns = true;
    // Batches are as large as clients make them, not as the interval allows.
    bool measures_batches = false;
    // Workers never wait for queries, only for devices. Otherwise that counts as true while their
    // threads, whose clocks TimeBy was given, run for kBusy of the time.
    bool has_always_queries = false;
    uint64_t (*now_ns)() = base::NowNs;  // the clock of all measurements here
  };

  // `store`: its objects are counted, and the looks at its victims; it must outlive the planner.
  // Null: Options::profile keeps its figures.
  Planner(const Calibration& calibration, const Options& options, cache::Store* store = nullptr);
  // The same without figures.
  explicit Planner(const Options& options, cache::Store* store = nullptr);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // Chooses plans by these figures from now on. REQUIRES: it has none
  void Adopt(const Calibration& calibration) WEFT_EXCLUDES(mutex_);

  // Learns from the times of a worker's tasks and devices; null: not (any more). They must stay
  // until then. Only `runner` may be null alone.
  void Watch(uint32_t worker, const pipeline::TaskTimes* times,
             const pipeline::RunnerCounters* runner) WEFT_EXCLUDES(mutex_);

  // The worker's thread has nothing else to do, and this clock has its CPU time: time beyond the
  // prediction is learned, too. Nothing: it is not (any more).
  void TimeBy(uint32_t worker, std::optional<clockid_t> cpu_clock) WEFT_EXCLUDES(mutex_);

  // After a batch's last stage, before it is cleared.
  void Note(uint32_t worker, const pipeline::Batch& batch) {
    workers_[worker]->profiler.Note(batch);
    Note(worker);
  }
  // For counts by other means: something was added to profiler(worker).
  void Note(uint32_t worker) {
    Worker& of = *workers_[worker];
    // Relaxed, both: a moment old.
    if (of.profiler.queries() >= of.next_look.load(std::memory_order_relaxed) &&
        base::ReadTicks() >= next_look_ticks_.load(std::memory_order_relaxed))
      Look();
  }
  Profiler& profiler(uint32_t worker) { return workers_[worker]->profiler; }

  // The decision in force; it stays until the worker's next call.
  const Decision& Current(uint32_t worker);

  PlannerStats Stats() const WEFT_EXCLUDES(mutex_);
  // The corrected calibration.
  Calibration learned() const WEFT_EXCLUDES(mutex_);
  std::vector<Candidate> candidates() const WEFT_EXCLUDES(mutex_);

 private:
  static constexpr uint32_t kSpanWindows = 16;
  static constexpr uint32_t kWindowsKept = 64;  // then the oldest count half
  static constexpr uint32_t kSpansToLearn = 4;
  static constexpr uint32_t kTrialWindows = 8;
  static constexpr uint32_t kTrialRest = 4;  // windows
  static constexpr double kBusy = 0.95;
  static constexpr double kOnDevice = 0.9;  // of a trial's queries
  static constexpr double kNotable = 0.1;   // likewise
  static constexpr uint64_t kCatchUpNs = 2'000'000'000;

  struct Worker {
    Profiler profiler;
    // The worker's count of queries at which it looks; written by whoever has looked.
    alignas(64) std::atomic<uint64_t> next_look;
    // Set by Current: the one it may be using.
    alignas(64) std::atomic<const Decision*> in_use{nullptr};
    // Under mutex_.
    const pipeline::TaskTimes* times = nullptr;
    const pipeline::RunnerCounters* runner = nullptr;
    std::optional<clockid_t> cpu_clock;
  };
  // The basis of learning: some spans, all under one decision and of one workload.
  struct Lesson {
    uint32_t spans = 0;
    uint64_t queries = 0, batches = 0;
    uint64_t begin_ns = 0;
    Measured begin;  // before it began
  };
  // Of the plan in force: complete windows, alike, after the first few.
  struct Trial {
    uint32_t rest = 0;  // windows that were not counted
    uint32_t windows = 0;
    uint64_t queries = 0;
    uint64_t begin_ns = 0, end_ns = 0;
    Measured begin, end;  // until these
  };
  struct Rate {
    uint64_t begin_ns = 0, begin_queries = 0;
    double queries_per_s = 0;
  };

  Planner(const Calibration* calibration, const Options& options, cache::Store* store);
  std::unique_ptr<Decision> FirstDecisionLocked() const WEFT_REQUIRES(mutex_);
  void Look() WEFT_EXCLUDES(mutex_);
  void LookLocked() WEFT_REQUIRES(mutex_);
  void BeginSpanLocked() WEFT_REQUIRES(mutex_);
  void BeginLessonLocked() WEFT_REQUIRES(mutex_);
  void EndSpanLocked() WEFT_REQUIRES(mutex_);
  Profile ProfileLocked() WEFT_REQUIRES(mutex_);
  void AddToTrialLocked(const WorkloadCounts& window) WEFT_REQUIRES(mutex_);
  void EndTrialLocked() WEFT_REQUIRES(mutex_);
  bool IsWatchedLocked() const WEFT_REQUIRES(mutex_);
  void FollowStoreLocked() WEFT_REQUIRES(mutex_);
  void PlanIfMovedLocked() WEFT_REQUIRES(mutex_);
  // For the plan in force, by the model alone, in queries/s.
  double PromiseLocked() const WEFT_REQUIRES(mutex_);
  bool MayExploreLocked() const WEFT_REQUIRES(mutex_);
  void PlanLocked(const Profile& profile, std::string why) WEFT_REQUIRES(mutex_);
  void ReplaceLocked(std::unique_ptr<Decision> decision, bool changes, bool is_another)
      WEFT_REQUIRES(mutex_);
  void PutInForceLocked(std::unique_ptr<Decision> decision) WEFT_REQUIRES(mutex_);
  Measured TakenLocked() const WEFT_REQUIRES(mutex_);
  void LearnLocked() WEFT_REQUIRES(mutex_);
  Rate RateLocked() const WEFT_REQUIRES(mutex_);

  // Constant after construction.
  const Options options_;
  cache::Store* const store_;  // may be null
  const std::vector<std::unique_ptr<Worker>> workers_;
  const uint64_t window_ticks_;

  std::atomic<const Decision*> current_{nullptr};
  std::atomic<uint64_t> next_look_ticks_{0};  // nobody looks before it

  mutable base::Mutex mutex_;
  WindowReader reader_ WEFT_GUARDED_BY(mutex_);
  bool is_calibrated_ WEFT_GUARDED_BY(mutex_);  // false: there are no figures
  std::vector<Candidate> candidates_ WEFT_GUARDED_BY(mutex_);
  Learner learner_ WEFT_GUARDED_BY(mutex_);
  std::unique_ptr<Decision> in_force_ WEFT_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Decision>> replaced_ WEFT_GUARDED_BY(mutex_);  // some worker's yet
  size_t candidate_ WEFT_GUARDED_BY(mutex_) = 0;                             // the one in force
  uint64_t began_ns_ WEFT_GUARDED_BY(mutex_) = 0;  // with this workload and plan
  // Since then, or since the device had caught up with the store.
  uint64_t fresh_since_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  // The plan was chosen by yields while fresh.
  bool is_short_ WEFT_GUARDED_BY(mutex_) = false;
  // Windows that are alike, except those of the span under way.
  WorkloadCounts settled_ WEFT_GUARDED_BY(mutex_);
  uint64_t looked_ns_ WEFT_GUARDED_BY(mutex_) = 0;  // when the last window ended
  double window_ns_ WEFT_GUARDED_BY(mutex_) = 0;    // mean, without pauses
  uint32_t settled_windows_ WEFT_GUARDED_BY(mutex_) = 0;
  bool has_begun_ WEFT_GUARDED_BY(mutex_) = false;  // with a window that may be half of old queries
  WorkloadCounts span_ WEFT_GUARDED_BY(mutex_);
  uint32_t span_windows_ WEFT_GUARDED_BY(mutex_) = 0;
  Lesson lesson_ WEFT_GUARDED_BY(mutex_);
  Trial trial_ WEFT_GUARDED_BY(mutex_);
  Yields yields_ WEFT_GUARDED_BY(mutex_);
  Exploration exploration_ WEFT_GUARDED_BY(mutex_);
  bool has_more_to_explore_ WEFT_GUARDED_BY(mutex_) = false;  // as of the last planning
  bool has_counted_ WEFT_GUARDED_BY(mutex_) = false;          // the last trial of the present plan
  uint64_t looks_begin_ WEFT_GUARDED_BY(mutex_) = 0;  // at victims so far; when the span began
  // known_.zipf was computed from these, which takes longer than all the rest.
  double equal_share_ WEFT_GUARDED_BY(mutex_) = -1;
  double equal_objects_ WEFT_GUARDED_BY(mutex_) = 0;
  Profile known_ WEFT_GUARDED_BY(mutex_);    // the latest
  Profile planned_ WEFT_GUARDED_BY(mutex_);  // the one planned for
  mutable Rate rate_ WEFT_GUARDED_BY(mutex_);
  uint64_t changes_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t plannings_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t windows_ WEFT_GUARDED_BY(mutex_) = 0;
  std::vector<PlanChange> last_changes_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::planner
