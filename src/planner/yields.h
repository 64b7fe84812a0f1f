// planner/yields.h: what plans were measured to yield of what the model promised for them.
//
// The learner (planner/learner.h) corrects what tasks and devices take. A promise may be wrong by
// what is nobody's time: how well workers and device work side by side, what the way to a device
// and back costs at this load, how soon a copy of the store has what was stored. So the throughput
// that was measured while a plan was in force is held against what was promised for it, and the
// ratio, its yield, counts for that plan and workload from then on: a plan that does not keep its
// promise is tried once, not again and again.
//
// Alike     workloads whose shares and sizes are (planner/profile.h, HasMoved). Skew and number of
//           objects, which few queries tell badly, may differ by more.
// Memory    kWorkloads workloads; the one that was used longest ago makes room for another.
// Threads   one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
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
  static constexpr double kForgotten = 1.0 / 2048;

  // Of one plan, for one workload.
  struct Yield {
    double ratio = 1;  // of the throughput that the model promises
    double trials = 0;
    bool is_known() const { return trials >= kTrials; }
  };

  static constexpr double kOthers = 3;

  // The first candidate is the plan with one stage on the CPU, of which the others say nothing.
  explicit Yields(size_t candidates) : candidates_(candidates) {}

  // The candidate had `ratio` times the throughput that was promised for it, while the workload was
  // as in `profile`. `part` of a whole trial, up to 1: how much this is believed. What was tried
  // less than kTrials times counts all the same when the workload comes again: its visits may be
  // short, always.
  void Note(const Profile& profile, size_t candidate, double ratio, double part);

  // Of each candidate. Of those that were never tried, but for the first one: the mean of what was,
  // as if kOthers more had kept their promise.
  std::vector<Yield> Of(const Profile& profile) const;

 private:
  struct Workload {
    Profile profile;
    uint64_t used = 0;  // by Note, as its number
    std::vector<Yield> yields;
  };

  // workloads_.size(): none is alike.
  size_t Find(const Profile& profile) const;

  const size_t candidates_;
  std::vector<Workload> workloads_;
  uint64_t notes_ = 0;
};

}  // namespace weft::planner
