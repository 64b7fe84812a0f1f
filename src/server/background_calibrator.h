// server/background_calibrator.h: measures the machine for the planner of a server that already
// serves, in one stage.
//
// A thread of low priority measures on an instance of the device of its own, gives its figures to
// the planner, keeps them in a file for the next start, and ends. It never ends the server: what
// goes wrong is a line in the log, and all queries go on in one stage.
//
// Memory    what is measured with is a part of -m that the store does not hold yet; where the store
//           comes to need it, and where -m is small, ScratchBytesMin (planner/guest_rules.h).
// Yields    behind each turn in which the server has served it rests as long as the turn was.
// Threads   Start, Stop, the destructor: one thread. State: any.
// Errors    no thread to be had is a line in the log, too.
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

// How much a server with `memory_bytes` and so many workers measures with: what is tried first, and
// what is where the store needs that; of both `to_be_had` may leave the first out. Empty: there is
// too little.
std::vector<uint64_t> ScratchSizes(uint64_t memory_bytes, uint32_t workers, uint64_t to_be_had);

class BackgroundCalibrator {
 public:
  struct Options {
    std::string path;  // that keeps what is measured
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
  std::thread thread_;  // Start's and Stop's

  // Its thread's, but for rules_.stop.
  planner::GuestRules rules_;
  uint64_t activity_ = 0;
  uint64_t turn_began_ns_ = 0;

  mutable base::Mutex mutex_;
  base::CondVar stopped_;
  std::string state_ WEFT_GUARDED_BY(mutex_) = "waiting";
};

}  // namespace weft::server
