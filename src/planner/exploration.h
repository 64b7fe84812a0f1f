// planner/exploration.h: tries, one by one, plans predicted to be about as good as the one in
// force, while a workload stays.
//
// Two predictions are each wrong by some percent, so the model cannot tell the best of similar
// plans. One stage on the CPU is preferred to a plan with a device that is predicted up to a tenth
// faster (planner/search.h, kDeviceGainMin). If a workload stays, trying the others costs little.
// Each takes some 100 to 300 ms, at a throughput some percent lower. It takes as long again if the
// device has to catch up with the store first, once for each workload. The findings hold as long as
// the workload does.
//
// Begin     the workload stays (Yields::IsLong), the yield of the plan in force is known, and its
//           last trial counted, so that those of another plan will.
// End       the plan is known; or its yield cannot reach the other's; or kLimitNs have passed
//           without; or the workload changed: then the plan is tried again when this workload
//           returns. Afterwards the plans are compared as ever. If nothing was found out (the
//           device does not keep up with stores, or the load has fallen), no other plan is tried
//           for the workload either.
// Threads   one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/search.h"
#include "planner/yields.h"

namespace weft::planner {

class Exploration {
 public:
  // How much better a plan may be than predicted.
  static constexpr double kDoubt = 0.1;
  // Part of the other's throughput, after kTrialsMin trials: less is out of reach.
  static constexpr double kReach = 0.9;
  static constexpr double kTrialsMin = 2;
  static constexpr size_t kPlansMax = 6;  // for each workload
  static constexpr uint64_t kLimitNs = 1'000'000'000;

  // The candidate with the highest prediction that is neither known nor explored for the workload.
  // Raised by kDoubt, it must exceed that of `standing`, the plan in force next. `estimates`,
  // `of_all`: for each candidate, the former with the ratios of the latter.
  static std::optional<size_t> Next(const Yields& yields, std::span<const Estimate> estimates,
                                    std::span<const Yields::Yield> of_all, size_t standing);

  // REQUIRES: it is not under way
  // `trials`: the candidate's until now.
  void Begin(size_t candidate, double trials, size_t standing, double standing_queries_per_s,
             uint64_t now_ns);
  bool is_under_way() const { return under_way_.has_value(); }
  // Nobody worked for this long. REQUIRES: it is under way
  void Prolong(uint64_t pause_ns) { under_way_->since_ns += pause_ns; }
  // Whether enough is known of the candidate: `yield` of `promise`, in queries/s.
  // REQUIRES: it is under way
  bool IsOver(const Yields::Yield& yield, double promise, uint64_t now_ns) const;
  // Both return the plan in force before. REQUIRES: likewise
  size_t Abandon();
  // It is over, with that yield; `yields` records it.
  size_t End(const Yields::Yield& yield, Yields* yields);

 private:
  struct UnderWay {
    size_t candidate;
    double trials;
    size_t standing;
    double standing_queries_per_s;
    uint64_t since_ns;
  };
  std::optional<UnderWay> under_way_;
};

}  // namespace weft::planner
