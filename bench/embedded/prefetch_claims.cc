#include "bench/embedded/prefetch_claims.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weft::bench {
namespace {

struct StaticSize {
  uint32_t bytes;
  PrefetchWay way;
};
constexpr StaticSize kStaticSizes[] = {{128, PrefetchWay::kStatic128},
                                       {256, PrefetchWay::kStatic256},
                                       {512, PrefetchWay::kStatic512},
                                       {1024, PrefetchWay::kStatic1024}};

// All but the lowest and the highest.
std::pair<double, double> InnerRange(const Samples& samples) {
  std::vector<double> sorted = samples.all();
  std::sort(sorted.begin(), sorted.end());
  const size_t cut = sorted.size() >= 5 ? 1 : 0;
  return {sorted[cut], sorted[sorted.size() - 1 - cut]};
}

ClaimVerdict Above(const Samples& high, const Samples& low) {
  if (high.Median() <= low.Median()) return ClaimVerdict::kFails;
  return InnerRange(high).first > InnerRange(low).second ? ClaimVerdict::kHolds
                                                         : ClaimVerdict::kUnclear;
}

ClaimVerdict Above(const Samples& gains, double bound) { return Above(gains, Samples({bound})); }
ClaimVerdict Below(const Samples& gains, double bound) { return Above(Samples({bound}), gains); }

std::string Percent(const Samples& gains) { return fmt::format("{:.0f} %", 100 * gains.Median()); }

// What is claimed of several things at once holds where it holds of each.
struct Gathered {
  ClaimVerdict verdict = ClaimVerdict::kHolds;
  std::string what;

  void Note(ClaimVerdict of_one) { verdict = std::max(verdict, of_one); }
  void Say(const std::string& text) { what += (what.empty() ? "" : "; ") + text; }
  Claim As(std::string id, const std::string& claim) const {
    return {std::move(id), claim + ": " + what, verdict};
  }
};

class ClaimJudge {
 public:
  ClaimJudge(const PrefetchGains& gains, const std::vector<uint32_t>& values, uint32_t batch)
      : gains_(gains), values_(values), batch_(batch) {}

  const Samples& Of(uint32_t value, PrefetchWay way, uint32_t per_bucket = kUsualPerBucket) const {
    return gains_.Of({value, batch_, per_bucket}, way);
  }

  Claim BestSizeIsTheValues() const {
    Gathered all;
    for (const uint32_t value : values_) {
      const auto* best = &kStaticSizes[0];
      for (const StaticSize& size : kStaticSizes) {
        if (Of(value, size.way).Median() > Of(value, best->way).Median()) best = &size;
      }
      const Samples& own = Own(value);
      if (best->bytes != value)
        all.Note(Above(Of(value, best->way), own) == ClaimVerdict::kHolds ? ClaimVerdict::kFails
                                                                          : ClaimVerdict::kUnclear);
      all.Say(fmt::format("{}: {} ({} with {})", value, best->bytes, Percent(own), value));
    }
    return all.As("A1", "the best static size is the value's");
  }

  // Each value but the first gains more than the one before, or less. kNone: by the static size
  // that is the value's.
  Claim ByValue(std::string id, const std::string& claim, bool more, PrefetchWay way,
                uint32_t per_bucket = kUsualPerBucket) const {
    Gathered all;
    const Samples* before = nullptr;
    for (const uint32_t value : values_) {
      const Samples& here = way == PrefetchWay::kNone ? Own(value) : Of(value, way, per_bucket);
      if (before != nullptr) all.Note(more ? Above(here, *before) : Above(*before, here));
      before = &here;
      all.Say(fmt::format("{}: {}", value, Percent(here)));
    }
    return all.As(std::move(id), claim);
  }

  Claim SmallerSizesStillGain() const {
    Gathered all;
    for (const uint32_t value : values_) {
      for (const StaticSize& size : kStaticSizes) {
        if (size.bytes >= value) continue;
        all.Note(Above(Of(value, size.way), 0));
        all.Say(fmt::format("{} of {}: {}", size.bytes, value, Percent(Of(value, size.way))));
      }
    }
    return all.As("A3", "a smaller size still gains");
  }

  Claim LargerSizesGainLess() const {
    Gathered all;
    for (const uint32_t value : values_) {
      for (const StaticSize& size : kStaticSizes) {
        if (size.bytes <= value) continue;
        all.Note(Above(Own(value), Of(value, size.way)));
        all.Say(fmt::format("{} for {}: {}, not {}", size.bytes, value,
                            Percent(Of(value, size.way)), Percent(Own(value))));
      }
    }
    return all.As("A4", "a larger size gains less");
  }

  Claim ExhaustedFallsWithObjects(const std::vector<uint32_t>& per_bucket) const {
    Gathered all;
    for (const uint32_t value : values_) {
      std::string text = fmt::format("{}:", value);
      for (size_t i = 0; i < per_bucket.size(); ++i) {
        const Samples& here = Of(value, PrefetchWay::kExhausted, per_bucket[i]);
        if (i > 0) {
          const Samples& before = Of(value, PrefetchWay::kExhausted, per_bucket[i - 1]);
          all.Note(Above(before, here));
        }
        text += fmt::format(" {}", Percent(here));
      }
      all.Say(text);
    }
    return all.As("B1", fmt::format("exhausted gains less with each of {} objects a bucket",
                                    fmt::join(per_bucket, ", ")));
  }

  Claim ExhaustedLosesAboveHalf(const std::vector<uint32_t>& per_bucket) const {
    Gathered all;
    for (const uint32_t value : values_) {
      for (const uint32_t k : per_bucket) {
        if (k <= kUsualPerBucket) continue;
        const Samples& here = Of(value, PrefetchWay::kExhausted, k);
        all.Note(Below(here, 0));
        all.Say(fmt::format("{} of {}: {}", k, value, Percent(here)));
      }
    }
    return all.As("B2", "exhausted gains nothing above four objects a bucket");
  }

  Claim HalfRightGains() const {
    Gathered all;
    for (const uint32_t value : values_) {
      for (const PrefetchWay way : {PrefetchWay::kRight80, PrefetchWay::kExact})
        all.Note(Above(Of(value, way), 0.15));
      all.Say(fmt::format(
          "{}: {} of 50, {} of 80, {} of 100", value, Percent(Of(value, PrefetchWay::kRight50)),
          Percent(Of(value, PrefetchWay::kRight80)), Percent(Of(value, PrefetchWay::kExact))));
    }
    return all.As("C1", "right above 50 % gains 15 % at least");
  }

  Claim FifthRightGainsLittle() const {
    Gathered all;
    for (const uint32_t value : values_) {
      const Samples& here = Of(value, PrefetchWay::kRight20);
      all.Note(std::max(Above(here, 0.05), Below(here, 0.15)));
      all.Say(fmt::format("{}: {}", value, Percent(here)));
    }
    return all.As("C2", "right at 20 % gains 5 to 15 %");
  }

 private:
  // Of the static size that is the value's.
  const Samples& Own(uint32_t value) const {
    for (const StaticSize& size : kStaticSizes) {
      if (size.bytes == value) return Of(value, size.way);
    }
    return Of(value, PrefetchWay::kExact);
  }

  const PrefetchGains& gains_;
  const std::vector<uint32_t>& values_;
  const uint32_t batch_;
};

}  // namespace

const char* NameOf(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::kHolds: return "holds";
    case ClaimVerdict::kUnclear: return "unclear";
    case ClaimVerdict::kFails: return "fails";
  }
  return "";
}

std::vector<Claim> ClaimsOf(const PrefetchGains& gains, const std::vector<uint32_t>& values,
                            const std::vector<uint32_t>& per_bucket, uint32_t batch) {
  const ClaimJudge judge(gains, values, batch);
  return {judge.BestSizeIsTheValues(),
          judge.ByValue("A2", "larger values gain more", true, PrefetchWay::kNone),
          judge.SmallerSizesStillGain(),
          judge.LargerSizesGainLess(),
          judge.ExhaustedFallsWithObjects(per_bucket),
          judge.ExhaustedLosesAboveHalf(per_bucket),
          judge.ByValue(
              "B3",
              fmt::format("with {} objects a bucket it harms large values more", per_bucket.back()),
              false, PrefetchWay::kExhausted, per_bucket.back()),
          judge.HalfRightGains(),
          judge.FifthRightGainsLittle(),
          judge.ByValue("C3", "right at 50 % gains more with larger values", true,
                        PrefetchWay::kRight50)};
}

}  // namespace weft::bench
