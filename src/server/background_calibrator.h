// server/background_calibrator.h: measures the machine for the planner of a running server, which
// meanwhile serves in one stage.
//
// A thread of low priority measures on its own instance of the device. It gives its figures to the
// planner, keeps them in a file for the next start, and ends. It never ends the server: an error is
// a line in the log, and all queries go on in one stage.
//
// Memory    for measuring: a part of -m that the store does not hold yet. If the store comes to
//           need it, or -m is small: ScratchBytesMin (planner/guest_rules.h).
// Yields    after each turn in which the server has served it rests as long as the turn was.
// Threads   Start, Stop, the destructor: one thread. State: any.
// Errors    a missing thread is a line in the log, too.
// Source    docs/design/0017-calibration.md, "Measured while the server serves".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cache/store.h"
#include "planner/guest_rules.h"
#include "planner/planner.h"
#include "processor/guard.h"

namespace weft::server {

// Memory with which a server with `memory_bytes` and `workers` workers measures: what is tried
// first, and what is used if the store needs that. If `to_be_had` is too little, the first is left
// out. Empty: there is too little.
std::vector<uint64_t> ScratchSizes(uint64_t memory_bytes, uint32_t workers, uint64_t to_be_had);

class BackgroundCalibrator {
 public:
  struct Options {
    std::string path;  // the file that keeps the figures
    uint32_t workers = 1;
    uint64_t memory_bytes = 0;  // of the server
    double seconds = 0.1;       // of each of its runs
    std::function<Result<std::unique_ptr<processor::Guard>>()> open_device;
    // Grows while the server serves. Any thread.
    std::function<uint64_t()> activity;
  };

  // Both must outlive it; the planner has no figures yet.
  BackgroundCalibrator(Options options, cache::Store* store, planner::Planner* planner);
  ~BackgroundCalibrator() { Stop(); }
  BackgroundCalibrator(const BackgroundCalibrator&) = delete;
  BackgroundCalibrator& operator=(const BackgroundCalibrator&) = delete;

  // Once.
  void Start();
  // Returns within a turn, some tens of milliseconds.
  void Stop() WEFT_EXCLUDES(mutex_);

  // For people: "waiting", "under way, 3 of 51", "failed: ...", or when it was measured.
  std::string State() const WEFT_EXCLUDES(mutex_);

 private:
  void Run() WEFT_EXCLUDES(mutex_);
  Result<planner::Calibration> MeasureAll() WEFT_EXCLUDES(mutex_);
  Result<planner::Calibration> MeasureIn(uint64_t scratch_bytes, bool is_last);
  Status BeforeTurn(bool is_last) WEFT_EXCLUDES(mutex_);
  void Say(std::string state) WEFT_EXCLUDES(mutex_);
  void SayFailed(const Status& status) WEFT_EXCLUDES(mutex_);

  // Constant after construction.
  const Options options_;
  cache::Store* const store_;
  planner::Planner* const planner_;
  std::thread thread_;  // for Start and Stop

  // Its thread's, except rules_.stop.
  planner::GuestRules rules_;
  uint64_t activity_ = 0;
  uint64_t turn_began_ns_ = 0;

  mutable base::Mutex mutex_;
  base::CondVar stopped_;
  std::string state_ WEFT_GUARDED_BY(mutex_) = "waiting";
};

}  // namespace weft::server
