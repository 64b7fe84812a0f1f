#include "bench/pipeline/table.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "bench/pipeline/model_check.h"
#include "planner/search.h"

namespace weft::bench {
namespace {

// "120 [300] 80": the bound in brackets.
std::string StagesText(const Figures& figures) {
  std::string text;
  for (size_t i = 0; i < figures.stage_ticks.size(); ++i) {
    const double us = figures.StageUs(i);
    const std::string stage = fmt::format("{:.0f}", us);
    if (i != 0) text += ' ';
    text += us >= figures.LongestStageUs() ? "[" + stage + "]" : stage;
  }
  return text;
}

// What stealing adds to each plan, in the mean of the workloads.
void PrintStealing(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines) {
  for (size_t c = 1; c < contenders.size(); ++c) {
    if (!IsWithoutStealing(contenders, c)) continue;
    double logs = 0;
    size_t workloads = 0;
    for (size_t at = c; at < lines.size(); at += contenders.size(), ++workloads)
      logs += std::log(lines[at - 1].ratio / lines[at].ratio);
    fmt::print("stealing: plan {} has {:.3f} times the rate of plan {} (geometric mean of {})\n",
               c - 1, std::exp(logs / static_cast<double>(workloads)), c, workloads);
  }
}

// How far the model was off, by contender; of the planner's, with what it has learned.
void PrintErrors(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines) {
  for (size_t c = 0; c < contenders.size(); ++c) {
    double sum = 0, most = 0;
    size_t count = 0;
    for (const TableLine& line : lines) {
      const std::optional<planner::Estimate>& told = line.estimate ? line.estimate : line.promised;
      if (line.contender != c || !told) continue;
      const double error = std::abs(ErrorOf(*told, line.figures));
      sum += error;
      most = std::max(most, error);
      ++count;
    }
    if (count == 0) continue;
    fmt::print("model, plan {}: error {:.1f} % in the mean of {}, {:.1f} % at most\n", c,
               100 * sum / static_cast<double>(count), count, 100 * most);
  }
}

// Of all workloads.
class ChoiceSums {
 public:
  void Add(std::string_view workload, std::string_view who, const ChoiceCheck& check) {
    ++count_;
    exact_ += check.chosen == check.best;
    near_ += check.behind <= 0.03;
    worst_ = std::max(worst_, check.behind);
    least_ = std::min(least_, check.over_one_stage);
    fmt::print("{:<12} {} plan {}, best {}: {:.1f} % behind it, {:.2f} times one stage{}\n",
               workload, who, check.chosen, check.best, 100 * check.behind, check.over_one_stage,
               check.turn_over_one_stage
                   ? fmt::format(", {:.2f} in its own turn", *check.turn_over_one_stage)
                   : "");
  }
  void Print(std::string_view name) const {
    if (count_ == 0) return;
    fmt::print(
        "{}: the best plan for {} of {}, within 3 % of it for {}, {:.1f} % behind at most; "
        "{:.3f} times one stage at least\n",
        name, exact_, count_, near_, 100 * worst_, least_);
  }

 private:
  size_t near_ = 0, exact_ = 0, count_ = 0;
  double worst_ = 0, least_ = 1e9;
};

// Paper 000, figure 10.
void PrintChoices(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines) {
  if (contenders.size() < 2 || lines.empty() || !lines[0].estimate) return;
  ChoiceSums by_model, by_planner;
  for (size_t at = 0; at < lines.size(); at += contenders.size()) {
    by_model.Add(lines[at].workload, "chosen", CheckChoice(lines, at, contenders.size()));
    const auto learned = CheckPlanner(lines, at, contenders.size());
    if (learned) by_planner.Add(lines[at].workload, "planner's", *learned);
  }
  by_model.Print("choices");
  by_planner.Print("choices of the planner");
}

// Not where the device was behind the store: its batches went through one stage then.
bool WasCarriedOut(const TableLine& line) {
  return 2 * line.figures.behind_queries <= line.figures.queries();
}

// Of those that kept the interval when they were measured, or of all where none did, the fastest.
// The planner's is none of them, nor is what was not carried out.
size_t BestMeasured(std::span<const TableLine> lines) {
  const bool any_kept = std::any_of(lines.begin(), lines.end(), [](const TableLine& line) {
    return line.kept && WasCarriedOut(line);
  });
  size_t best = 0;
  double rate = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].estimate || !WasCarriedOut(lines[i])) continue;
    if ((any_kept && !lines[i].kept) || lines[i].figures.rate <= rate) continue;
    rate = lines[i].figures.rate;
    best = i;
  }
  return best;
}

}  // namespace

// Whether the contender differs from the one before it in that it does not steal.
bool IsWithoutStealing(const std::vector<Contender>& contenders, size_t at) {
  return at > 1 && !contenders[at].steal && contenders[at - 1].steal;
}

ChoiceCheck CheckChoice(const std::vector<TableLine>& lines, size_t begin, size_t contenders) {
  ChoiceCheck check;
  double promised = lines[begin].estimate->queries_per_s * (1 + planner::kDeviceGainMin);
  const auto all = std::span(lines).subspan(begin, contenders);
  for (size_t i = 0; i < contenders; ++i) {
    if (!all[i].estimate) continue;  // the planner's own choice
    const planner::Estimate& estimate = *all[i].estimate;
    if (i != 0 && estimate.fits && estimate.queries_per_s > promised) {
      promised = estimate.queries_per_s;
      check.chosen = i;
    }
  }
  check.best = BestMeasured(all);
  const double chosen = all[check.chosen].figures.rate;
  check.behind = std::max(1 - chosen / all[check.best].figures.rate, 0.0);
  check.over_one_stage = chosen / all[0].figures.rate;
  return check;
}

std::optional<ChoiceCheck> CheckPlanner(const std::vector<TableLine>& lines, size_t begin,
                                        size_t contenders) {
  const auto all = std::span(lines).subspan(begin, contenders);
  const auto planner = std::find_if(
      all.begin(), all.end(), [](const TableLine& line) { return line.settled_on.has_value(); });
  if (planner == all.end()) return std::nullopt;
  ChoiceCheck check;
  check.chosen = *planner->settled_on;
  check.best = BestMeasured(all);
  check.behind = std::max(1 - all[check.chosen].figures.rate / all[check.best].figures.rate, 0.0);
  check.over_one_stage = all[check.chosen].figures.rate / all[0].figures.rate;
  check.turn_over_one_stage = planner->figures.rate / all[0].figures.rate;
  return check;
}

void PrintTable(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines) {
  fmt::print("\nmean latency up to {} us\n", contenders[0].interval_us);
  for (size_t i = 0; i < contenders.size(); ++i)
    fmt::print("plan {}: {}{}\n", i,
               contenders[i].is_auto ? "as the planner chooses" : contenders[i].plan.ToText(),
               contenders[i].steal ? "" : ", no stealing");
  fmt::print("{:<12} {:>4} {:>12} {:>9} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>7}  {}\n",
             "workload", "plan", "M queries/s", "predicted", "error", "ratio", "batch", "mean us",
             "p50 us", "p99 us", "hits %", "stages us");
  for (const TableLine& line : lines) {
    const Figures& figures = line.figures;
    const std::string predicted =
        line.estimate ? fmt::format("{:.2f}", line.estimate->queries_per_s * 1e-6) : "";
    const std::string error =
        line.estimate ? fmt::format("{:+.1f}%", 100 * ErrorOf(*line.estimate, figures)) : "";
    fmt::print(
        "{:<12} {:>4} {:>12.2f} {:>9} {:>7} {:>7.2f} {:>7} {:>8.0f}{} {:>7.0f} "
        "{:>8.0f} {:>7.2f}  {}\n",
        line.workload, line.contender, figures.rate * 1e-6, predicted, error, line.ratio,
        figures.batch_queries, figures.latency_ns.Mean() * 1e-3, line.kept ? " " : "!",
        static_cast<double>(figures.latency_ns.Percentile(50)) * 1e-3,
        static_cast<double>(figures.latency_ns.Percentile(99)) * 1e-3, 100 * figures.hit_ratio(),
        StagesText(figures));
  }
  PrintStealing(contenders, lines);
  PrintErrors(contenders, lines);
  PrintChoices(contenders, lines);
}

}  // namespace weft::bench
