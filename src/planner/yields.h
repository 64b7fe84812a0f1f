// planner/yields.h: what plans were measured to yield of what the model promises for them.
//
// The learner (planner/learner.h) corrects what tasks and devices take. A promise may be wrong by
// what is nobody's time: how well workers and device work side by side, what the way to a device
// and back costs at this load, how soon a copy of the store has what was stored. So the throughput
// that was measured while a plan was in force is kept for that plan and workload. Held against what
// the model promises by now, it is the plan's yield: a plan that does not keep its promise is tried
// once, not again and again.
//
// Workload  the one that Visit was told last. Alike are those whose shares and sizes are
//           (planner/profile.h, HasMoved); skew and number of objects, which few queries tell
//           badly, may differ by more. So one that comes again is known again. Of the profiles that
//           were alike the one that was counted over most queries is kept: the first window of a
//           workload may be off by a third, and its yields must not be lost when that shows.
// Stay      from Visit to the next one of another workload, which differs in shares or sizes: the
//           others are chance now and then. A plan is slow for its first tens of milliseconds:
//           batches grow, a copy of the store is brought up to date, and reads of objects that
//           nobody has read for a minute are noted. So what it yields then, while it is fresh, is
//           kept apart from what it yields once it has settled: where stays are short, there is
//           nothing but the first; where they are long, it says nothing.
// Memory    kWorkloads workloads; the one that was visited longest ago makes room for another.
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
  // Of the error's logarithm, by a trial; of the first few more, so that they are the mean of all.
  // What comes last counts most.
  static constexpr double kPart = 0.25;
  // After so many a plan is known.
  static constexpr double kTrials = 16;
  // Of each yield's logarithm, by every trial of any plan for its workload: a plan that something
  // disturbed while it was tried is tried again, in time.
  static constexpr double kForgotten = 1.0 / 16384;
  static constexpr double kOthers = 3;
  // From the beginning of a stay, of a plan in it, or of when its device has caught up.
  static constexpr uint64_t kFreshNs = 60'000'000;
  // A stay that is worth a change of plan for what it yields once it has settled.
  static constexpr uint64_t kLongNs = 2 * kFreshNs;

  // Of one plan, for one workload.
  struct Yield {
    double ratio = 1;  // of the throughput that the model promises
    bool is_known = false;
    double trials = 0;
  };

  // What the yield of a plan is taken for until it is known.
  struct Held {
    size_t candidate = 0;
    double ratio = 1;
  };

  // The first candidate is the plan with one stage on the CPU.
  explicit Yields(size_t candidates) : candidates_(candidates) {}

  // The workload is this one, from now on. Returns whether it is another one than before.
  bool Visit(const Profile& profile, uint64_t now_ns);

  // Of the workload; no other has had it. 0: there was none.
  uint64_t number() const { return at_ < workloads_.size() ? workloads_[at_].number : 0; }

  // Whether the stay is a long one, or one is to be expected: the last ones were, or there was
  // none.
  bool IsLong(uint64_t now_ns) const;

  // The candidate had that throughput. `part` of a whole trial, up to 1: how much it moves what is
  // known. What was tried less than kTrials times counts all the same when the workload comes
  // again: its visits may be short, always. REQUIRES: Visit
  void Note(size_t candidate, bool is_fresh, double queries_per_s, double part);

  // Of each candidate, for which the model promises `promises`, in queries/s. Those that were never
  // tried, but for the first one, are taken to have the yield of the first one, for what makes that
  // slower than was calibrated makes all so; times the mean by which those that were tried differ
  // from it, as if kOthers more did not.
  std::vector<Yield> Of(std::span<const double> promises, bool is_fresh,
                        std::optional<Held> held = {}) const;

  // Of one; as promised, and not known, where it was never tried.
  Yield OfTried(size_t candidate, double promise, bool is_fresh) const;

  // The workload's exploration of it is over (planner/exploration.h). REQUIRES: Visit
  void NoteExplored(size_t candidate);
  void NoteAllExplored();
  bool WasExplored(size_t candidate) const;
  size_t explored() const;  // so many were, for the workload

 private:
  struct Plan {
    double queries_per_s = 0;
    double trials = 0;
    double belief = 0;  // exponent of the yield: 1 when it was tried last
  };
  struct Workload {
    Profile profile;
    uint64_t number = 0;
    uint64_t visited = 0;                    // as the number of that visit
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
  size_t at_ = SIZE_MAX;  // of these
  uint64_t since_ns_ = 0;
  uint64_t visits_ = 0;
  uint64_t numbers_ = 0;
};

}  // namespace weft::planner
