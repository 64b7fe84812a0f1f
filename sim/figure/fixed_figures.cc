// Figures 5a to 5c: values of one size, gets only, keys drawn evenly.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/figure/experiment_parts.h"

namespace weft::sim {
namespace {

std::string SizeSeries(int value_bytes) { return fmt::format("{} B", value_bytes); }

// All of `what`, as "128 B: ..., 256 B: ...".
template <typename What>
std::string ForEachSize(const What& what) {
  std::vector<std::string> texts;
  for (const int bytes : kFixedValueBytes) {
    texts.push_back(fmt::format("{}: {}", SizeSeries(bytes), what(bytes)));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

template <typename Holds>
bool HoldsForEachSize(const Holds& holds) {
  return std::all_of(std::begin(kFixedValueBytes), std::end(kFixedValueBytes), holds);
}

// ---- 5a

std::vector<double> GainsOfSize(const Figure& figure, int value_bytes, int bytes, Metric metric) {
  return figure.Gains(SizeSeries(value_bytes), std::to_string(bytes), metric);
}
double MeanOfSize(const Figure& figure, int value_bytes, int bytes, Metric metric) {
  return EstimateOf(GainsOfSize(figure, value_bytes, bytes, metric)).mean;
}

int BestSize(const Figure& figure, int value_bytes, Metric metric) {
  return *std::max_element(std::begin(kStaticBytes), std::end(kStaticBytes), [&](int a, int b) {
    return MeanOfSize(figure, value_bytes, a, metric) < MeanOfSize(figure, value_bytes, b, metric);
  });
}

// The size of the lowest gain among those below (or above) the value's own; 0: there is none.
int WorstSize(const Figure& figure, int value_bytes, bool below, Metric metric) {
  int worst = 0;
  for (const int bytes : kStaticBytes) {
    if (bytes == value_bytes || (bytes < value_bytes) != below) continue;
    if (worst == 0 || MeanOfSize(figure, value_bytes, bytes, metric) <
                          MeanOfSize(figure, value_bytes, worst, metric)) {
      worst = bytes;
    }
  }
  return worst;
}

std::string SizeAndGain(const Figure& figure, int value_bytes, int bytes, Metric metric) {
  if (bytes == 0) return "none";
  return fmt::format("{} with {}", Percent(MeanOfSize(figure, value_bytes, bytes, metric)), bytes);
}

std::vector<Claim> JudgeSizes(const Figure& figure, Metric metric) {
  const auto gains = [&](int value, int bytes) {
    return GainsOfSize(figure, value, bytes, metric);
  };
  const auto best = [&](int value) { return BestSize(figure, value, metric); };
  Claim a1{"A1", "the best static size is the value's", "the best of the sizes, exactly"};
  a1.ours = ForEachSize([&](int value) { return best(value); });
  a1.holds = HoldsForEachSize([&](int value) { return best(value) == value; });

  Claim a2{"A2", "larger values gain more", "in that order, beyond 95 %"};
  a2.ours =
      ForEachSize([&](int value) { return Percent(MeanOfSize(figure, value, value, metric)); });
  a2.holds = IsAbove(gains(256, 256), gains(128, 128)) && IsAbove(gains(512, 512), gains(256, 256));

  Claim a3{"A3", "a size below the value's still gains", "above 0, beyond 95 %"};
  a3.ours = "lowest: " + ForEachSize([&](int value) {
              return SizeAndGain(figure, value, WorstSize(figure, value, true, metric), metric);
            });
  a3.holds = HoldsForEachSize([&](int value) {
    return std::all_of(std::begin(kStaticBytes), std::end(kStaticBytes), [&](int bytes) {
      return bytes >= value || IsAbove(gains(value, bytes), 0);
    });
  });

  Claim a4{"A4", "a size above the value's gains less", "below the value's own, beyond 95 %"};
  a4.ours = "lowest: " + ForEachSize([&](int value) {
              return SizeAndGain(figure, value, WorstSize(figure, value, false, metric), metric);
            });
  a4.holds = HoldsForEachSize([&](int value) {
    return std::all_of(std::begin(kStaticBytes), std::end(kStaticBytes), [&](int bytes) {
      return bytes <= value || IsAbove(gains(value, value), gains(value, bytes));
    });
  });
  return {a1, a2, a3, a4};
}

// ---- 5b

constexpr int kPerBucketFixed[] = {2, 3, 4, 5, 6, 7, 8};
// At other loads; those of 5,000 are the base's.
constexpr int kPerBucketOfLoads[] = {2, 3, 4, 6, 8};
constexpr double kLoads[] = {0.25, 0.5, 2};  // instructions an operation, of the base's

std::string ExhaustedOfSize(int value_bytes) { return "exhausted, " + SizeSeries(value_bytes); }
std::string LoadedOf(int value_bytes, uint32_t instructions) {
  return fmt::format("exhausted, {}, {} instructions", SizeSeries(value_bytes), instructions);
}
uint32_t InstructionsAt(const FigureBase& base, double load) {
  return static_cast<uint32_t>(
      std::lround(static_cast<double>(base.of.run.workload.instr_per_op) * load));
}

struct Curve {
  std::vector<double> per_bucket;
  std::vector<double> gains;
};
template <typename PerBucket>
Curve CurveOf(const Figure& figure, const std::string& series, const PerBucket& per_bucket,
              Metric metric) {
  Curve curve;
  for (const int each : per_bucket) {
    curve.per_bucket.push_back(each);
    curve.gains.push_back(figure.MeanGain(series, std::to_string(each), metric));
  }
  return curve;
}

Claim JudgeBreakEven(const Figure& figure, const std::vector<uint32_t>& loads, uint32_t base_load,
                     Metric metric) {
  Claim b2{"B2", "no gain with more than half of a bucket's eight entries",
           "at some load gains end between 3 and 6 objects a bucket"};
  b2.holds = true;
  b2.ours = ForEachSize([&](int value) {
    std::vector<std::string> texts;
    bool is_between = false;
    for (const uint32_t load : loads) {
      const Curve curve = load == base_load
                              ? CurveOf(figure, ExhaustedOfSize(value), kPerBucketFixed, metric)
                              : CurveOf(figure, LoadedOf(value, load), kPerBucketOfLoads, metric);
      const double at = BreakEven(curve.per_bucket, curve.gains);
      is_between |= at >= 3 && at <= 6;
      texts.push_back(fmt::format("{} at {}", BreakEvenText(curve.per_bucket, curve.gains), load));
    }
    b2.holds &= is_between;
    return fmt::format("{}", fmt::join(texts, ", "));
  });
  b2.ours += " instructions an operation";
  return b2;
}

std::vector<Claim> JudgeUtilization(const Figure& figure, const std::vector<uint32_t>& loads,
                                    uint32_t base_load, Metric metric) {
  const auto gains = [&](int value, int per_bucket) {
    return figure.Gains(ExhaustedOfSize(value), std::to_string(per_bucket), metric);
  };
  const auto mean = [&](int value, int per_bucket) {
    return EstimateOf(gains(value, per_bucket)).mean;
  };
  Claim b1{"B1", "exhausted gains less, the more objects a bucket has",
           "2 above 8, and no step up, beyond 95 %"};
  b1.ours = ForEachSize([&](int value) {
    std::vector<std::string> each;
    for (const int k : kPerBucketFixed) each.push_back(fmt::format("{:.1f}", 100 * mean(value, k)));
    return fmt::format("{} %", fmt::join(each, " "));
  });
  b1.holds = HoldsForEachSize([&](int value) {
    for (const int k : kPerBucketFixed) {
      if (k < 8 && IsAbove(gains(value, k + 1), gains(value, k))) return false;
    }
    return IsAbove(gains(value, 2), gains(value, 8));
  });
  Claim b3{"B3", "the harm grows with the value's size", "with 8 a bucket, beyond 95 %"};
  b3.ours = ForEachSize([&](int value) { return Percent(mean(value, 8)); });
  b3.holds = IsAbove(gains(128, 8), gains(256, 8)) && IsAbove(gains(256, 8), gains(512, 8));

  const auto in_situ = [&](int value) {
    return figure.Gains("in-situ, " + SizeSeries(value), "4", metric);
  };
  Claim b4{"B4", "in-situ is better than exhausted with 4 a bucket", "beyond 95 %"};
  b4.ours = ForEachSize([&](int value) {
    return fmt::format("{} and {}", Percent(EstimateOf(in_situ(value)).mean),
                       Percent(mean(value, 4)));
  });
  b4.holds = HoldsForEachSize([&](int value) { return IsAbove(in_situ(value), gains(value, 4)); });
  return {b1, JudgeBreakEven(figure, loads, base_load, metric), b3, b4};
}

// ---- 5c

std::vector<Claim> JudgeAccuracy(const Figure& figure, Metric metric) {
  const auto gains = [&](int value, int percent) {
    return figure.Gains(SizeSeries(value), std::to_string(percent), metric);
  };
  const auto mean = [&](int value, int percent) { return EstimateOf(gains(value, percent)).mean; };
  const auto is_within = [](double of, double low, double high) { return of >= low && of <= high; };
  const auto ratio = [&](int value, int percent) {
    return mean(value, percent) / mean(value, 100);
  };

  Claim c1{"C1", "right above 50 %: gains of more than 20 %", "at least 15 % from 60 % on"};
  const auto lowest = [&](int value) {
    double low = std::numeric_limits<double>::infinity();
    for (int percent = 60; percent <= 100; percent += 10) {
      low = std::min(low, mean(value, percent));
    }
    return low;
  };
  c1.ours = "lowest: " + ForEachSize([&](int value) { return Percent(lowest(value)); });
  c1.holds = HoldsForEachSize([&](int value) { return lowest(value) >= 0.15; });

  Claim c2{"C2", "right at 20 %: about 10 %", "5 to 15 %"};
  c2.ours = ForEachSize([&](int value) { return Percent(mean(value, 20)); });
  c2.holds = HoldsForEachSize([&](int value) { return is_within(mean(value, 20), 0.05, 0.15); });

  Claim linear{"C1/C2", "gains follow the accuracy",
               "at 50 % 0.40 to 0.75 of those at 100 %, at 20 % 0.12 to 0.45"};
  linear.ours = ForEachSize([&](int value) {
    return fmt::format("{:.2f} and {:.2f}", ratio(value, 50), ratio(value, 20));
  });
  linear.holds = HoldsForEachSize([&](int value) {
    return is_within(ratio(value, 50), 0.40, 0.75) && is_within(ratio(value, 20), 0.12, 0.45);
  });

  Claim c3{"C3", "large values gain more", "at 100 %, in that order, beyond 95 %"};
  c3.ours = ForEachSize([&](int value) { return Percent(mean(value, 100)); });
  c3.holds = IsAbove(gains(256, 100), gains(128, 100)) && IsAbove(gains(512, 100), gains(256, 100));
  return {c1, c2, linear, c3};
}

}  // namespace

FigureSpec SizeFigure(const FigureBase& base) {
  FigureSpec spec{.name = "5a",
                  .title = "5a: bytes that are prefetched of an object, address always right",
                  .x_name = "bytes of the value prefetched",
                  .points = {},
                  .judge = JudgeSizes};
  for (const int value : kFixedValueBytes) {
    for (const int bytes : kStaticBytes) {
      AddPoint(&spec, SizeSeries(value), bytes,
               WithUnit(WithFixed(base.of, value, 4), "oracle:1", fmt::format("static:{}", bytes)));
    }
  }
  return spec;
}

FigureSpec UtilizationFigure(const FigureBase& base) {
  FigureSpec spec{.name = "5b",
                  .title = "5b: all objects of a bucket prefetched",
                  .x_name = "objects a bucket",
                  .points = {},
                  .judge = {}};
  const auto add = [&](const Case& of, const std::string& series, int value, int per_bucket,
                       const char* pacu, bool is_drawn) {
    AddPoint(&spec, series, per_bucket, WithUnit(WithFixed(of, value, per_bucket), pacu, "exact"));
    spec.points.back().is_drawn = is_drawn;
  };
  const uint32_t base_load = base.of.run.workload.instr_per_op;
  std::vector<uint32_t> loads = {base_load};
  for (const double load : kLoads) loads.push_back(InstructionsAt(base, load));
  std::sort(loads.begin(), loads.end());
  for (const int value : kFixedValueBytes) {
    for (const int k : kPerBucketFixed)
      add(base.of, ExhaustedOfSize(value), value, k, "exhausted", true);
    add(base.of, "in-situ, " + SizeSeries(value), value, 4, "insitu", true);
    for (const uint32_t load : loads) {
      if (load == base_load) continue;
      Case loaded = base.of;
      loaded.run.workload.instr_per_op = load;
      for (const int k : kPerBucketOfLoads) {
        add(loaded, LoadedOf(value, load), value, k, "exhausted", false);
      }
    }
  }
  spec.judge = [loads, base_load](const Figure& figure, Metric metric) {
    return JudgeUtilization(figure, loads, base_load, metric);
  };
  return spec;
}

FigureSpec AccuracyFigure(const FigureBase& base) {
  FigureSpec spec{.name = "5c",
                  .title = "5c: addresses right in so many of a hundred, size exact",
                  .x_name = "addresses right, percent",
                  .points = {},
                  .judge = JudgeAccuracy};
  for (const int value : kFixedValueBytes) {
    for (int percent = 10; percent <= 100; percent += 10) {
      AddPoint(&spec, SizeSeries(value), percent,
               WithUnit(WithFixed(base.of, value, 4), fmt::format("oracle:{}", percent / 100.0),
                        "exact"));
    }
  }
  return spec;
}

}  // namespace weft::sim
