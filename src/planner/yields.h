// planner/yields.h: measured yields of plans: the part of the model's predictions that they reach.
//
// The learner (planner/learner.h) corrects the times of tasks and devices. A prediction may be
// wrong by what is nobody's time: how well workers and device work side by side; the cost of the
// way to a device and back at this load; how soon a copy of the store has new objects. So the
// throughput measured while a plan was in force is kept for that plan and workload. Divided by the
// model's present prediction, it is the plan's yield. So a plan that falls short is tried once, not
// again and again.
//
// Workload  the one last given to Visit. Workloads are alike if their shares and sizes are
//           (planner/profile.h, HasMoved). Skew and number of objects, which few queries show
//           badly, may differ by more. So one that returns is known. Of alike profiles the one
//           counted over most queries is kept: the first window of a workload may be off by a
//           third, and its yields must not be lost when that shows.
// Stay      from Visit to the next one of another workload, which differs in shares or sizes: other
//           differences are chance now and then. A plan is slow for its first tens of milliseconds:
//           batches grow, a copy of the store is updated, and reads of objects unread for a minute
//           are noted. So its yield while it is fresh is kept apart from the settled one. If stays
//           are short, only the first matters; if they are long, it says nothing.
// Memory    kWorkloads workloads; the one visited longest ago makes room for another.
// Threads   one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/profile.h"

namespace weft::planner {

class Yields {
 public:
  static constexpr double kMin = 1.0 / 16;
  static constexpr double kMax = 2;
  static constexpr size_t kWorkloads = 16;
  // Part of the error's logarithm that a trial corrects; the first few correct more, so that they
  // give the mean of all. The last counts most.
  static constexpr double kPart = 0.25;
  // Trials after which a plan is known.
  static constexpr double kTrials = 16;
  // Part of each yield's logarithm that every trial of any plan for its workload takes away: a plan
  // that was disturbed while it was tried is tried again, in time.
  static constexpr double kForgotten = 1.0 / 16384;
  static constexpr double kOthers = 3;
  // From the beginning of a stay, of a plan in it, or from when its device has caught up.
  static constexpr uint64_t kFreshNs = 60'000'000;
  // A stay that is worth a change of plan for its settled yield.
  static constexpr uint64_t kLongNs = 2 * kFreshNs;

  // For one plan and one workload.
  struct Yield {
    double ratio = 1;  // of the throughput that the model predicts
    bool is_known = false;
    double trials = 0;
  };

  // The assumed yield of a plan until it is known.
  struct Held {
    size_t candidate = 0;
    double ratio = 1;
  };

  // The first candidate is the plan with one stage on the CPU.
  explicit Yields(size_t candidates) : candidates_(candidates) {}

  // Sets the workload from now on. Returns whether it is another one than before.
  bool Visit(const Profile& profile, uint64_t now_ns);

  // The workload's number; no other has had it. 0: there was none.
  uint64_t number() const { return at_ < workloads_.size() ? workloads_[at_].number : 0; }

  // Whether the stay is long, or will probably be: the last ones were, or there was none.
  bool IsLong(uint64_t now_ns) const;

  // The candidate had that throughput. `part` of a full trial, up to 1: the weight of the trial. A
  // plan tried less than kTrials times still counts when the workload returns, because its visits
  // may always be short. REQUIRES: Visit
  void Note(size_t candidate, bool is_fresh, double queries_per_s, double part);

  // For each candidate, for which the model predicts `promises`, in queries/s. An untried plan gets
  // the first one's yield, because whatever makes that slower than calibrated does so to all. It is
  // multiplied by the mean ratio to it of the tried ones, counting kOthers more as equal to it.
  std::vector<Yield> Of(std::span<const double> promises, bool is_fresh,
                        std::optional<Held> held = {}) const;

  // For one; as predicted, and not known, if it was never tried.
  Yield OfTried(size_t candidate, double promise, bool is_fresh) const;

  // The workload's exploration of the candidate is over (planner/exploration.h). REQUIRES: Visit
  void NoteExplored(size_t candidate);
  void NoteAllExplored();
  bool WasExplored(size_t candidate) const;
  size_t explored() const;  // how many were, for the workload

 private:
  struct Plan {
    double queries_per_s = 0;
    double trials = 0;
    double belief = 0;  // exponent of the yield: 1 right after a trial
  };
  struct Workload {
    Profile profile;
    uint64_t number = 0;
    uint64_t visited = 0;                    // the number of its last visit
    double stay_ns = 0;                      // geometric mean of the last ones; 0: there was none
    std::array<std::vector<Plan>, 2> plans;  // settled, fresh
    std::vector<bool> explored;
  };

  static Yield YieldOf(const Plan& plan, double promise);
  // workloads_.size(): none is alike.
  size_t Find(const Profile& profile) const;
  size_t RoomForAnother();

  size_t candidates_;
  std::vector<Workload> workloads_;
  size_t at_ = SIZE_MAX;  // in workloads_
  uint64_t since_ns_ = 0;
  uint64_t visits_ = 0;
  uint64_t numbers_ = 0;
};

}  // namespace weft::planner
