// bench/embedded/prefetch_claims.h: paper 004's claims about prefetching, held against what ways of
// prefetching in software gain on this machine.
//
// A gain is 1 - time / time with the bucket's prefetch alone. Each gain is known once a round. A
// claim that one is above another holds if their medians say so. It is unclear if the rounds'
// ranges (without the lowest and the highest) overlap all the same.
//
// Threads   values.
// Source    paper 004, figure 5; the simulator's specification, section 1.5.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/embedded/prefetch_walk.h"
#include "bench/harness/samples.h"

namespace weft::bench {

// Objects of a bucket, for claims that don't mention it.
inline constexpr uint32_t kUsualPerBucket = 4;

enum class ClaimVerdict : uint8_t { kHolds, kUnclear, kFails };
const char* NameOf(ClaimVerdict verdict);

struct Claim {
  std::string id;    // "A1"
  std::string what;  // with figures
  ClaimVerdict verdict = ClaimVerdict::kHolds;
};

// Gains by what was measured.
class PrefetchGains {
 public:
  struct Case {
    uint32_t value_bytes = 0;
    uint32_t batch = 0;
    uint32_t per_bucket = 0;
    auto operator<=>(const Case&) const = default;
  };
  // Replaces what it has of them.
  void Add(const Case& of, PrefetchWay way, Samples gains) { gains_[{of, way}] = std::move(gains); }
  // REQUIRES: it was added
  const Samples& Of(const Case& of, PrefetchWay way) const { return gains_.at({of, way}); }

 private:
  std::map<std::pair<Case, PrefetchWay>, Samples> gains_;
};

// Claims A1 to A4, B1 to B3, C1 to C3 at one batch size. `values` are 128 to 1024. All of them were
// measured with four objects a bucket in every way; exhausted and exact also with each of
// `per_bucket`.
std::vector<Claim> ClaimsOf(const PrefetchGains& gains, const std::vector<uint32_t>& values,
                            const std::vector<uint32_t>& per_bucket, uint32_t batch);

}  // namespace weft::bench
