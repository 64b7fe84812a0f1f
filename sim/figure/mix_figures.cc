// Figures 6 to 9: the paper's mixes of gets and puts.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/figure/experiment_parts.h"
#include "sim/generator/mix.h"

namespace weft::sim {
namespace {

constexpr const char* kInSitu = "in-situ, exact size";
constexpr const char* kInSituRuntime = "in-situ, size read at run time";
constexpr const char* kHitTable = "hit table, dynamic size";
constexpr const char* kZipf = "zipf:0.99";

using Mixes = std::vector<int>;

double AverageBytesOf(int mix) {
  return Mix::Find(std::to_string(mix)).value().AverageValueBytes();
}
std::string StaticOf(int bytes) { return fmt::format("{} B", bytes); }
std::string OfPopularity(const std::string& series, const std::string& popularity) {
  return popularity == "uniform" ? series : series + ", " + popularity;
}

void AddMixes(FigureSpec& spec, const FigureBase& base, const std::string& series,
              const std::string& utilization, const std::string& pacu, const std::string& pscu) {
  for (const int mix : base.mixes) {
    AddPoint(&spec, series, mix, WithUnit(WithMix(base.of, mix, utilization), pacu, pscu));
  }
}

// Means by mix.
std::vector<double> MeansOf(const Figure& figure, const Mixes& mixes, const std::string& series,
                            Metric metric) {
  std::vector<double> means;
  for (const int mix : mixes) {
    means.push_back(figure.MeanGain(series, std::to_string(mix), metric));
  }
  return means;
}
double MeanOfAll(const std::vector<double>& means) { return EstimateOf(means).mean; }

// ---- 6

Claim JudgeInSitu(const Figure& figure, const Mixes& mixes, const std::string& id,
                  const std::string& series, Metric metric) {
  Claim d1{id, "in-situ is best on every mix (" + series + ")",
           "no static size above it, beyond 95 %"};
  constexpr size_t kNamedMax = 6;
  std::vector<std::string> better;
  for (const int mix : mixes) {
    const std::string x = std::to_string(mix);
    for (const int bytes : kStaticBytes) {
      if (IsAbove(figure.Gains(StaticOf(bytes), x, metric), figure.Gains(series, x, metric))) {
        better.push_back(fmt::format("mix {} with {}", mix, StaticOf(bytes)));
      }
    }
  }
  d1.holds = better.empty();
  std::string names = fmt::format("{}", fmt::join(better, ", "));
  if (better.empty()) names = "none";
  if (better.size() > kNamedMax) {
    names = fmt::format("{} of {} pairs of mix and size", better.size(),
                        mixes.size() * std::size(kStaticBytes));
  }
  d1.ours = fmt::format("{} on average; better: {}",
                        Percent(MeanOfAll(MeansOf(figure, mixes, series, metric))), names);
  return d1;
}

int BestStatic(const Figure& figure, int mix, Metric metric) {
  const std::string x = std::to_string(mix);
  return *std::max_element(std::begin(kStaticBytes), std::end(kStaticBytes), [&](int a, int b) {
    return figure.MeanGain(StaticOf(a), x, metric) < figure.MeanGain(StaticOf(b), x, metric);
  });
}

// The nearest and the next-nearest of the sizes.
bool IsClose(int bytes, double average) {
  std::vector<int> sizes(std::begin(kStaticBytes), std::end(kStaticBytes));
  std::sort(sizes.begin(), sizes.end(),
            [&](int a, int b) { return std::abs(a - average) < std::abs(b - average); });
  return bytes == sizes[0] || bytes == sizes[1];
}

std::vector<Claim> JudgeMixSizes(const Figure& figure, const Mixes& mixes, Metric metric) {
  Claim d2{"D2", "the best static size is close to the mix's average",
           "the nearest or next-nearest of the sizes, on every mix"};
  std::vector<std::string> texts;
  d2.holds = true;
  for (const int mix : mixes) {
    const int best = BestStatic(figure, mix, metric);
    d2.holds &= IsClose(best, AverageBytesOf(mix));
    texts.push_back(fmt::format("{} of {:.0f}", best, AverageBytesOf(mix)));
  }
  d2.ours = fmt::format("{}", fmt::join(texts, ", "));
  return {JudgeInSitu(figure, mixes, "D1", kInSitu, metric),
          JudgeInSitu(figure, mixes, "D1r", kInSituRuntime, metric), d2};
}

// ---- 7

constexpr int kPerBucketMixed[] = {2, 3, 4, 5, 6, 8};
// With half of the load, which is enough to see where gains end.
constexpr int kPerBucketOfHalf[] = {3, 4, 6};

std::string ExhaustedOfBucket(int per_bucket) { return fmt::format("exhausted, {}", per_bucket); }
std::string HalfLoadedOf(int per_bucket) {
  return ExhaustedOfBucket(per_bucket) + ", half of the load";
}

// Means on the mix, by objects a bucket.
template <typename PerBucket>
std::vector<double> MeansOn(const Figure& figure, int mix, const PerBucket& per_bucket,
                            std::string (*series)(int), Metric metric) {
  std::vector<double> means;
  for (const int k : per_bucket) {
    means.push_back(figure.MeanGain(series(k), std::to_string(mix), metric));
  }
  return means;
}

std::vector<Claim> JudgeMixUtilization(const Figure& figure, const Mixes& mixes, Metric metric) {
  Claim e1{"E1", "exhausted pays only with up to half of a bucket's entries",
           "on every mix gains end between 3 and 6 objects a bucket, at this load or half of it"};
  e1.holds = true;
  std::vector<std::string> ends;
  std::vector<double> harms;
  std::vector<double> averages;
  const std::vector<double> per_bucket(std::begin(kPerBucketMixed), std::end(kPerBucketMixed));
  const std::vector<double> of_half(std::begin(kPerBucketOfHalf), std::end(kPerBucketOfHalf));
  const auto is_between = [](double at) { return at >= 3 && at <= 6; };
  for (const int mix : mixes) {
    const std::vector<double> gains =
        MeansOn(figure, mix, kPerBucketMixed, ExhaustedOfBucket, metric);
    const std::vector<double> half = MeansOn(figure, mix, kPerBucketOfHalf, HalfLoadedOf, metric);
    e1.holds &= is_between(BreakEven(per_bucket, gains)) || is_between(BreakEven(of_half, half));
    ends.push_back(BreakEvenText(per_bucket, gains) + "/" + BreakEvenText(of_half, half));
    harms.push_back(-gains.back());
    averages.push_back(AverageBytesOf(mix));
  }
  e1.ours = "from mix " + std::to_string(mixes.front()) +
            " on: " + fmt::format("{}", fmt::join(ends, " "));
  const auto mean = [&](int mix, int k) {
    return figure.MeanGain(ExhaustedOfBucket(k), std::to_string(mix), metric);
  };
  Claim e2{"E2", "the penalty grows with the average size",
           "with 8 a bucket, Spearman's correlation of at least 0.8"};
  const double correlation = SpearmanCorrelation(harms, averages);
  e2.ours = fmt::format("{:.2f}; gains {} with mix {} and {} with mix {}", correlation,
                        Percent(mean(mixes.front(), 8)), mixes.front(),
                        Percent(mean(mixes.back(), 8)), mixes.back());
  e2.holds = correlation >= 0.8;
  return {e1, e2};
}

// ---- 8

Claim JudgeMeans(const Figure& figure, const Mixes& mixes, const std::string& popularity,
                 Metric metric) {
  const std::string in_situ = OfPopularity(kInSitu, popularity);
  const std::string hit_table = OfPopularity(kHitTable, popularity);
  Claim f1{"F1", "in-situ gains 35.4 %, prediction 21 % (" + popularity + ")",
           "in-situ above on every mix; means 25 to 50 % and 12 to 32 %, ratio 0.45 to 0.75"};
  int above = 0;
  for (const int mix : mixes) {
    const std::string x = std::to_string(mix);
    above += IsAbove(figure.Gains(in_situ, x, metric), figure.Gains(hit_table, x, metric));
  }
  const double exact = MeanOfAll(MeansOf(figure, mixes, in_situ, metric));
  const double predicted = MeanOfAll(MeansOf(figure, mixes, hit_table, metric));
  const double ratio = predicted / exact;
  f1.holds = above == static_cast<int>(mixes.size()) && exact >= 0.25 && exact <= 0.50 &&
             predicted >= 0.12 && predicted <= 0.32 && ratio >= 0.45 && ratio <= 0.75;
  f1.ours = fmt::format("{} and {}, ratio {:.2f}; above on {} of {}", Percent(exact),
                        Percent(predicted), ratio, above, mixes.size());
  return f1;
}

Claim JudgeHits(const Figure& figure, const Mixes& mixes, const std::string& popularity) {
  Claim f2{"F2", "the hit table is right in about half (" + popularity + ")",
           "40 to 75 % of triggers whose object is in the bucket, on average"};
  f2.by_latency = false;
  std::vector<double> triggers;
  std::vector<double> lookups;
  for (const int mix : mixes) {
    const Measured& of = figure.Of(OfPopularity(kHitTable, popularity), std::to_string(mix));
    triggers.push_back(
        MeanOfAll(of.Each([](const RunFigures& run) { return run.units.address_accuracy(); })));
    lookups.push_back(
        MeanOfAll(of.Each([](const RunFigures& run) { return run.units.hit_accuracy(); })));
  }
  const double mean = MeanOfAll(triggers);
  f2.holds = mean >= 0.40 && mean <= 0.75;
  f2.ours = fmt::format("{} of triggers ({} to {}), {} of lookups", Percent(mean),
                        Percent(*std::min_element(triggers.begin(), triggers.end())),
                        Percent(*std::max_element(triggers.begin(), triggers.end())),
                        Percent(MeanOfAll(lookups)));
  return f2;
}

std::vector<Claim> JudgeMixUnits(const Figure& figure, const Mixes& mixes, Metric metric) {
  return {JudgeMeans(figure, mixes, "uniform", metric), JudgeMeans(figure, mixes, kZipf, metric),
          JudgeHits(figure, mixes, "uniform"), JudgeHits(figure, mixes, kZipf)};
}

// ---- 9

std::vector<Claim> JudgeEnergy(const Figure& figure, const Mixes& mixes,
                               const std::string& popularity) {
  const auto ratios = [&](const std::string& series, int mix) {
    return figure.Of(OfPopularity(series, popularity), std::to_string(mix))
        .Ratios(&RunFigures::nj_per_op);
  };
  double furthest = 0;
  int larger = 0;
  std::vector<double> exact;
  std::vector<double> predicted;
  for (const int mix : mixes) {
    exact.push_back(EstimateOf(ratios(kInSitu, mix)).mean);
    predicted.push_back(EstimateOf(ratios(kHitTable, mix)).mean);
    furthest = std::max(furthest, std::abs(exact.back() - 1));
    larger += IsAbove(ratios(kHitTable, mix), ratios(kInSitu, mix));
  }
  Claim g1{"G1", "in-situ costs next to no energy (" + popularity + ")",
           "an operation's within 2 % of the baseline's, on every mix"};
  g1.ours = fmt::format("{:.3f} on average, at most {} away", MeanOfAll(exact), Percent(furthest));
  g1.holds = furthest <= 0.02;
  Claim g2{"G2", "prediction's energy can't always be neglected (" + popularity + ")",
           "above in-situ's on every mix, beyond 95 %"};
  g2.ours = fmt::format("{:.3f} on average; above on {} of {}", MeanOfAll(predicted), larger,
                        mixes.size());
  g2.holds = larger == static_cast<int>(mixes.size());
  g1.by_latency = g2.by_latency = false;
  return {g1, g2};
}

std::vector<Claim> JudgeMixEnergy(const Figure& figure, const Mixes& mixes, Metric /*metric*/) {
  std::vector<Claim> claims = JudgeEnergy(figure, mixes, "uniform");
  for (Claim& claim : JudgeEnergy(figure, mixes, kZipf)) claims.push_back(std::move(claim));
  return claims;
}

// The judge of a figure that has those mixes.
auto On(const Mixes& mixes, std::vector<Claim> (*judge)(const Figure&, const Mixes&, Metric)) {
  return
      [mixes, judge](const Figure& figure, Metric metric) { return judge(figure, mixes, metric); };
}

std::vector<Point> UnitPoints(const FigureBase& base) {
  FigureSpec spec;
  for (const char* popularity : {"uniform", kZipf}) {
    FigureBase of = base;
    of.of.run.workload.pop = popularity;
    if (std::string(popularity) == kZipf) of.of.run.fast_forward *= kLearningFactor;
    AddMixes(spec, of, OfPopularity(kInSitu, popularity), "natural", "insitu", "exact");
    AddMixes(spec, of, OfPopularity(kInSituRuntime, popularity), "natural", "insitu", "runtime");
    AddMixes(spec, of, OfPopularity(kHitTable, popularity), "natural", "hittable", "dynamic");
  }
  return spec.points;
}

}  // namespace

FigureSpec MixSizeFigure(const FigureBase& base) {
  FigureSpec spec{.name = "6",
                  .title = "6: bytes that are prefetched, mixes, address by in-situ",
                  .x_name = "mix",
                  .points = {},
                  .judge = {}};
  for (const int bytes : kStaticBytes) {
    AddMixes(spec, base, StaticOf(bytes), "natural", "insitu", fmt::format("static:{}", bytes));
  }
  AddMixes(spec, base, kInSitu, "natural", "insitu", "exact");
  AddMixes(spec, base, kInSituRuntime, "natural", "insitu", "runtime");
  spec.judge = On(base.mixes, JudgeMixSizes);
  return spec;
}

FigureSpec MixUtilizationFigure(const FigureBase& base) {
  FigureSpec spec{.name = "7",
                  .title = "7: all objects of a bucket prefetched, mixes",
                  .x_name = "mix",
                  .points = {},
                  .judge = {}};
  for (const int k : kPerBucketMixed) {
    AddMixes(spec, base, ExhaustedOfBucket(k), fmt::format("exact:{}", k), "exhausted", "exact");
  }
  AddMixes(spec, base, "in-situ, 4", "exact:4", "insitu", "exact");
  FigureBase half = base;
  half.of.run.workload.instr_per_op *= 2;
  const size_t drawn = spec.points.size();
  for (const int k : kPerBucketOfHalf) {
    AddMixes(spec, half, HalfLoadedOf(k), fmt::format("exact:{}", k), "exhausted", "exact");
  }
  for (size_t i = drawn; i < spec.points.size(); ++i) spec.points[i].is_drawn = false;
  spec.judge = On(base.mixes, JudgeMixUtilization);
  return spec;
}

FigureSpec MixUnitFigure(const FigureBase& base) {
  FigureSpec spec{.name = "8",
                  .title = "8: in-situ, and prediction by hit table and mean size",
                  .x_name = "mix",
                  .points = UnitPoints(base),
                  .judge = {}};
  spec.judge = On(base.mixes, JudgeMixUnits);
  return spec;
}

FigureSpec MixEnergyFigure(const FigureBase& base) {
  FigureSpec spec{.name = "9",
                  .title = "9: energy of the memory, an operation",
                  .x_name = "mix",
                  .quantity = Quantity::kEnergy,
                  .points = UnitPoints(base),
                  .judge = {}};
  spec.judge = On(base.mixes, JudgeMixEnergy);
  return spec;
}

}  // namespace weft::sim
