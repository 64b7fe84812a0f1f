// planner/synthetic_load.h: a store full of objects of one size, with workers and devices that
// serve requests for them, for calibration.
//
// So it measures the pipeline itself, with all its workers at work, without a protocol or sockets.
//
// Threads   one at a time; each call starts the workers' and ends them.
// Errors    kInvalidArgument: several devices have their own memory. kNoMemory: the store does not
//           hold a useful number of objects, or a device has too little for the batches. Otherwise
//           errors of a device.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "planner/guest_rules.h"
#include "planner/job_feeder.h"

namespace weft::planner {

struct LoadOptions {
  uint32_t key_bytes = 16;    // 8 to 250
  uint32_t value_bytes = 64;  // up to 2,000
  uint64_t memory_bytes = 0;  // of the store
  uint32_t workers = 1;
  std::vector<processor::Guard*> devices;  // gpu0, gpu1, ... of plans; they outlive the load
  // Null: nobody else is at work. It outlives the load.
  const GuestRules* guest = nullptr;
};

class SyntheticLoad {
 public:
  // Opens a store in memory that all devices see, fills it, and lets mirrored devices follow it.
  static Result<std::unique_ptr<SyntheticLoad>> Open(const LoadOptions& options);
  ~SyntheticLoad();

  uint64_t objects() const { return at_.objects; }

  // All workers serve for traffic.seconds, in several turns after one that nobody counts. The
  // figures are of the turn with the median time of workers for a query: machines have other things
  // to do now and then. For a guest, they are of the one with the least. Each turn has at least a
  // batch or job. If the turns would take several times traffic.seconds that way, there are fewer,
  // down to one. `beside` (may be null): such jobs are carried out meanwhile by feeders, each in
  // the place of a worker. With more threads, they would wait for a core, not for a device. *fed
  // (may be null): their figures in the same turn. At least one worker is left. The time until the
  // device has followed all that was stored counts as the jobs'.
  Result<LoadFigures> Run(const Traffic& traffic, const JobTraffic* beside = nullptr,
                          LoadFigures* fed = nullptr);
  // Several such runs at once, turn by turn, for figures that are compared: other work of the
  // machine then affects all of them alike. In their order.
  Result<std::vector<LoadFigures>> RunInTurns(std::span<const Traffic> all);
  // One worker alone, with one batch under way, so that no job waits for another, in the same
  // turns. The figures are of the turn whose jobs took the least for a query: only undisturbed jobs
  // are measured.
  Result<LoadFigures> RunAlone(Traffic traffic);
  // A device alone, in the same turns. `beside`: meanwhile the workers that the feeders leave serve
  // reads in one stage. wall_ns is the device's: of a turn, once.
  Result<LoadFigures> RunJobs(const JobTraffic& traffic, bool beside = false);

 private:
  using Servers = std::vector<std::unique_ptr<SyntheticServer>>;
  using Feeders = std::vector<std::unique_ptr<JobFeeder>>;
  struct Turn {
    LoadFigures served, fed;
  };

  explicit SyntheticLoad(const LoadOptions& options) : options_(options) {}
  uint32_t WorkersBeside(const JobTraffic& jobs) const {
    return options_.workers - std::min(jobs.feeders, options_.workers - 1);
  }
  Status Fill();
  bool IsToStop() const { return options_.guest != nullptr && options_.guest->stop.load(); }
  double TakenShare() const { return options_.guest == nullptr ? 0.5 : 0; }
  Status BeginTurn();
  Status CatchUp();
  uint64_t WorkedNs() const;
  Result<Servers> MakeServers(const Traffic& traffic, uint32_t workers);
  Result<Feeders> MakeFeeders(JobTraffic traffic);
  Status RunTurn(const Servers& servers, const Feeders& feeders, double seconds, Turn* turn);
  Result<std::vector<Turn>> RunTurns(const Servers& servers, const Feeders& feeders,
                                     double seconds);

  const LoadOptions options_;
  SyntheticStore at_;
  uint64_t apart_ns_ = 0;  // CatchUp's time and a guest's waits, all together
};

}  // namespace weft::planner
