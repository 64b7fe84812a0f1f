// planner/synthetic_load.h: a store full of objects of one size, and workers and devices that serve
// requests for them: what calibration measures.
//
// So what is measured is the pipeline itself, with all its workers at work; a protocol and its
// sockets are not in it.
//
// Threads   one at a time; each call starts the workers' and ends them.
// Errors    kInvalidArgument: several devices have memory of their own. kNoMemory: the store does
//           not hold a useful number of objects, or a device has too little for the batches. Else
//           what a device says.
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

  // All workers serve for traffic.seconds, in several turns after one that nobody counts;
  // the figures are of the turn that is the median by the workers' time for a query, for machines
  // have other things to do now and then; a guest's, of the one with the least. Each turn has a
  // batch or job at least; where these take so long that the turns would take several times
  // traffic.seconds, there are fewer, down to one.
  // `beside` (may be null): such jobs are carried out meanwhile, which *fed (may be null) tells of,
  // of the same turn, by feeders in the place of as many workers: with more threads than that, they
  // would wait for a core, and not for a device. One worker is left at least. The time that the
  // device takes until it has followed all that was stored counts as the jobs'.
  Result<LoadFigures> Run(const Traffic& traffic, const JobTraffic* beside = nullptr,
                          LoadFigures* fed = nullptr);
  // Several such runs at once, turn by turn, for figures that are held against each other: what
  // else the machine does meanwhile is in all of them alike. In their order.
  Result<std::vector<LoadFigures>> RunInTurns(std::span<const Traffic> all);
  // One worker alone, with one batch under way, so that no job waits for another; in the same
  // turns, and the figures are of the one in which jobs took the least for a query: nobody else is
  // to be measured, only what a job takes that nothing disturbs.
  Result<LoadFigures> RunAlone(Traffic traffic);
  // A device alone, in the same turns. `beside`: workers serve reads in one stage meanwhile, as
  // many as there are beside the feeders.
  // wall_ns is the device's: of a turn, once.
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
  uint64_t apart_ns_ = 0;  // CatchUp's time, and what a guest waited, all together
};

}  // namespace weft::planner
