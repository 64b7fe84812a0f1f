// planner/exploration.h: the plans that are promised about as much as the one in force are tried,
// one by one, while a workload stays.
//
// Two promises are each wrong by some percent, so of plans that are promised about the same the
// model cannot tell the best, and one stage on the CPU is preferred to a plan with a device that is
// promised up to a tenth more (planner/search.h, kDeviceGainMin). Where a workload stays, a look at
// them costs little: some 100 to 300 ms each, and as long again where the device has to catch up
// with the store first, once for each workload, at a throughput that is some percent less; and what
// is found holds for as long as the workload does.
//
// Begin     the workload stays (Yields::IsLong), what the plan in force yields is known, and the
//           last trial of it counted, so that those of another one will.
// End       the plan is known; or what it yields is out of reach of the other's; or kLimitNs have
//           passed without; or the workload is another one, and then it is tried again when this
//           one comes again. Behind it the plans are compared as ever. Where nothing at all was
//           found out, for the device does not keep up with what is stored, or nobody asks for so
//           much any more, no other plan is tried for the workload either.
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
  // By so much a plan may be better than it is told.
  static constexpr double kDoubt = 0.1;
  // Of the other one's throughput, after kTrialsMin trials: less is out of reach.
  static constexpr double kReach = 0.9;
  static constexpr double kTrialsMin = 2;
  static constexpr size_t kPlansMax = 6;  // for each workload
  static constexpr uint64_t kLimitNs = 1'000'000'000;

  // Of those that were neither known nor explored for the workload the one that is promised most,
  // if with kDoubt that is more than of `standing`, which is to be in force. `estimates` and
  // `of_all`: of each candidate, the first ones with the second ones' ratios.
  static std::optional<size_t> Next(const Yields& yields, std::span<const Estimate> estimates,
                                    std::span<const Yields::Yield> of_all, size_t standing);

  // REQUIRES: it is not under way
  // `trials`: of the candidate until now.
  void Begin(size_t candidate, double trials, size_t standing, double standing_queries_per_s,
             uint64_t now_ns);
  bool is_under_way() const { return under_way_.has_value(); }
  // So long nobody worked. REQUIRES: it is under way
  void Prolong(uint64_t pause_ns) { under_way_->since_ns += pause_ns; }
  // Whether all is known of the candidate that is to be: `yield` of `promise`, in queries/s.
  // REQUIRES: it is under way
  bool IsOver(const Yields::Yield& yield, double promise, uint64_t now_ns) const;
  // Both return what was in force before. REQUIRES: likewise
  size_t Abandon();
  // It is over, with that; `yields` takes note.
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
