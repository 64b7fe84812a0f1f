// planner/yields.h: what plans were measured to yield of what the model promises for them.
//
// The learner (planner/learner.h) corrects what tasks and devices take. A promise may be wrong by
// what is nobody's time: how well workers and device work side by side, what the way to a device
// and back costs at this load, how soon a copy of the store has what was stored. So the throughput
// that was measured while a plan was in force is kept for that plan and workload. Held against what
// the model promises by now, it is the plan's yield: a plan that does not keep its promise is tried
// once, not again and again.
//
// Alike     workloads whose shares and sizes are (planner/profile.h, HasMoved). Skew and number of
//           objects, which few queries tell badly, may differ by more.
// Memory    kWorkloads workloads; the one that was used longest ago makes room for another.
// Threads   one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/profile.h"

namespace weft::planner {

class Yields {
 public:
  static constexpr double kMin = 1.0 / 16;
  static constexpr double kMax = 2;
  static constexpr size_t kWorkloads = 16;
  // Of the error's logarithm, by a trial; of the first few more, so that they are the mean of all.
  // What comes last counts most: a copy of the store is brought up to date while it is being used.
  static constexpr double kPart = 0.25;
  // After so many a plan is known: together they take longer than that.
  static constexpr double kTrials = 40;
  // Of each yield's logarithm, by every trial of any plan for its workload: a plan that something
  // disturbed while it was tried is tried again, in time.
  static constexpr double kForgotten = 1.0 / 16384;
  static constexpr double kOthers = 3;

  // Of one plan, for one workload.
  struct Yield {
    double ratio = 1;  // of the throughput that the model promises
    bool is_known = false;
  };

  // The first candidate is the plan with one stage on the CPU.
  explicit Yields(size_t candidates) : candidates_(candidates) {}

  // The candidate had that throughput while the workload was as in `profile`. `part` of a whole
  // trial, up to 1: how much it moves what is known. What was tried less than kTrials times counts
  // all the same when the workload comes again: its visits may be short, always.
  void Note(const Profile& profile, size_t candidate, double queries_per_s, double part);

  // Of each candidate, for which the model promises `promises`, in queries/s. Those that were never
  // tried, but for the first one, are taken to have the yield of the first one, for what makes that
  // slower than was calibrated makes all so; times the mean by which those that were tried differ
  // from it, as if kOthers more did not.
  std::vector<Yield> Of(const Profile& profile, std::span<const double> promises) const;

  // Of one; as promised, and not known, where it was never tried.
  Yield OfTried(const Profile& profile, size_t candidate, double promise) const;

 private:
  struct Plan {
    double queries_per_s = 0;
    double trials = 0;
    double belief = 0;  // exponent of the yield: 1 when it was tried last
  };
  struct Workload {
    Profile profile;
    uint64_t used = 0;  // by Note, as its number
    std::vector<Plan> plans;
  };

  static Yield YieldOf(const Plan& plan, double promise);
  // workloads_.size(): none is alike.
  size_t Find(const Profile& profile) const;

  const size_t candidates_;
  std::vector<Workload> workloads_;
  uint64_t notes_ = 0;
};

}  // namespace weft::planner
