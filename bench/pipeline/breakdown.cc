#include "bench/pipeline/breakdown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace weft::bench {
namespace {

using pipeline::Plan;
using pipeline::Task;

constexpr std::array<const char*, 2> kMegaKv = {
    "[RV PP MM]cpu -> [IN.search IN.insert IN.delete]gpu0 -> [KC RD WR SD]cpu",
    "[RV PP MM]cpu -> [IN.search]gpu0 -> [IN.insert IN.delete KC RD WR SD]cpu"};

bool IsChange(Task task) { return task == Task::kInsert || task == Task::kDelete; }

// Whether each task that is asked for has the same stage and processor in both. A stage's tasks may
// be written in any order.
bool AreAlike(const Plan& a, const Plan& b, bool with_changes) {
  if (a.stages().size() != b.stages().size()) return false;
  for (size_t s = 0; s < a.stages().size(); ++s) {
    if (a.stages()[s].processor != b.stages()[s].processor) return false;
    for (uint32_t i = 0; i < pipeline::kTaskCount; ++i) {
      const auto task = static_cast<Task>(i);
      if (IsChange(task) && !with_changes) continue;
      if (a.stages()[s].Has(task) != b.stages()[s].Has(task)) return false;
    }
  }
  return true;
}
bool AreSame(const Plan& a, const Plan& b) { return AreAlike(a, b, true); }
bool AreOnePartition(const Plan& a, const Plan& b) { return AreAlike(a, b, false); }

// One stage has nothing to steal, whatever the contender says.
bool DoesSteal(const Contender& contender) {
  return contender.steal && contender.plan.stages().size() > 1;
}

// The one that carries out the plan, with or without stealing.
std::optional<size_t> FindPlan(const std::vector<Contender>& contenders, const Plan& plan,
                               bool steal) {
  for (size_t c = 0; c < contenders.size(); ++c)
    if (!contenders[c].is_auto && DoesSteal(contenders[c]) == steal &&
        AreSame(contenders[c].plan, plan))
      return c;
  return std::nullopt;
}

std::optional<size_t> FindText(const std::vector<Contender>& contenders, const char* text) {
  auto plan = Plan::Parse(text);
  return plan ? FindPlan(contenders, *plan, false) : std::nullopt;
}

std::vector<size_t> WithoutStealing(const std::vector<Contender>& contenders) {
  std::vector<size_t> found;
  for (size_t c = 0; c < contenders.size(); ++c)
    if (!contenders[c].is_auto && !DoesSteal(contenders[c])) found.push_back(c);
  return found;
}

// The contenders that differ from `from` at most in where Insert and Delete are; `from` is one.
std::vector<size_t> PlacementsOf(const std::vector<Contender>& contenders, size_t from) {
  std::vector<size_t> found = WithoutStealing(contenders);
  std::erase_if(
      found, [&](size_t c) { return !AreOnePartition(contenders[c].plan, contenders[from].plan); });
  return found;
}

using Lines = std::span<const TableLine>;  // of one workload, by contender

// REQUIRES: there are candidates.
size_t BestCandidate(Lines lines, std::vector<size_t> candidates) {
  const auto is_late = [&](size_t c) { return !lines[c].kept; };
  if (!std::all_of(candidates.begin(), candidates.end(), is_late))
    std::erase_if(candidates, is_late);
  return *std::max_element(candidates.begin(), candidates.end(), [&](size_t a, size_t b) {
    return lines[a].figures.rate < lines[b].figures.rate;
  });
}

Gain GainOf(Lines lines, size_t contender, size_t baseline) {
  return {lines[0].workload, contender, baseline,
          lines[contender].figures.rate / lines[baseline].figures.rate,
          lines[contender].kept && lines[baseline].kept};
}

// Calls do_it(where the workload begins, its lines) for each workload.
template <typename Do>
void ForEachWorkload(size_t contenders, const std::vector<TableLine>& lines, Do do_it) {
  for (size_t at = 0; at < lines.size(); at += contenders)
    do_it(at, Lines(lines).subspan(at, contenders));
}

// Nothing where there are no gains.
void AddRow(const std::string& name, const std::vector<Gain>& gains, std::optional<double> paper,
            std::string* text) {
  if (gains.empty()) return;
  const MeanGain mean = MeanOf(gains);
  const auto percent = [](double ratio) { return fmt::format("{:+.1f}%", 100 * (ratio - 1)); };
  *text += fmt::format("break-down   {:<18} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}\n", name,
                       mean.workloads, mean.late, percent(mean.arithmetic), percent(mean.geometric),
                       percent(mean.least), percent(mean.most),
                       paper ? fmt::format("{:+g}%", *paper) : "-");
}

// What the paper has of a part of the workloads.
struct Part {
  const char* name;
  double paper;  // percent
};

void AddParts(const std::vector<Gain>& gains, std::span<const Part> parts, std::string* text) {
  for (const Part& part : parts) AddRow(part.name, OfPart(gains, part.name), part.paper, text);
}

void AddOverMegaKv(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines,
                   std::string* text) {
  const std::vector<Gain> gains = OverMegaKv(contenders, lines);
  if (gains.empty()) return;
  const size_t chosen = gains[0].contender;
  *text += fmt::format("break-down  {} over Mega-KV's, plan {}\n",
                       contenders[chosen].is_auto ? fmt::format("the planner, plan {},", chosen)
                                                  : "the plan that the model chooses",
                       gains[0].baseline);
  AddRow("all", gains, 81, text);
  static constexpr Part kParts[] = {{"K8", 166},  {"K16", 95},  {"K32", 40},
                                    {"K128", 23}, {"G100", 71}, {"G95", 146},
                                    {"G50", 26},  {"U", 90},    {"S", 71}};
  AddParts(gains, kParts, text);
}

// The paper's mean is of 14 workloads.
void AddIndexAssignment(const std::vector<Contender>& contenders,
                        const std::vector<TableLine>& lines, std::string* text) {
  if (!FindMegaKv(contenders)) return;
  const std::optional<size_t> all_on_gpu = FindText(contenders, kMegaKv[0]);
  std::string rows;
  if (!all_on_gpu) {
    rows =
        "break-down   not available: no plan has all on gpu0 (the CPU makes the changes where a "
        "device has a copy)\n";
  } else if (PlacementsOf(contenders, *all_on_gpu).size() < 2) {
    rows = "break-down   not available: one placement is among the plans\n";
  } else {
    const std::vector<Gain> gains = OfIndexAssignment(contenders, lines);
    static constexpr Part kParts[] = {{"G95", 56}, {"G50", 10}};
    AddRow("all with SETs", gains, 37, &rows);
    AddParts(gains, kParts, &rows);
  }
  if (rows.empty()) return;  // no workload has SETs
  *text += "break-down  index operations: the best places of Insert and Delete over all on gpu0\n";
  *text += rows;
}

void AddPartition(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines,
                  std::string* text) {
  const std::vector<Gain> gains = OfPartition(contenders, lines);
  if (gains.empty()) return;
  const std::vector<Gain> others = OfOtherPartition(contenders, gains);
  *text += fmt::format(
      "break-down  partition: the best plan without stealing over Mega-KV's; it "
      "is another partition for {} of {} workloads (paper: 9 of 24)\n",
      others.size(), gains.size());
  AddRow("another partition", others, 69, text);
  AddRow("all", gains, std::nullopt, text);
}

void AddStealing(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines,
                 std::string* text) {
  const std::vector<size_t> without = WithoutStealing(contenders);
  if (std::none_of(without.begin(), without.end(),
                   [&](size_t c) { return FindPlan(contenders, contenders[c].plan, true); }))
    return;
  const std::vector<Gain> gains = OfStealing(contenders, lines);
  *text += "break-down  stealing: the plan that is best without it, with stealing over without\n";
  AddRow("all", gains, 15.7, text);
  static constexpr Part kParts[] = {{"K8", 28}, {"K16", 16}, {"K32", 12}, {"K128", 6}};
  AddParts(gains, kParts, text);
  const size_t left_out = lines.size() / contenders.size() - gains.size();
  if (left_out != 0)
    *text +=
        fmt::format("break-down   left out: {} whose best plan has nothing to steal\n", left_out);
}

}  // namespace

MeanGain MeanOf(const std::vector<Gain>& gains) {
  MeanGain mean;
  if (gains.empty()) return mean;
  mean.workloads = gains.size();
  mean.least = mean.most = gains[0].ratio;
  double logs = 0;
  for (const Gain& gain : gains) {
    mean.late += !gain.kept;
    mean.arithmetic += gain.ratio / static_cast<double>(gains.size());
    logs += std::log(gain.ratio);
    mean.least = std::min(mean.least, gain.ratio);
    mean.most = std::max(mean.most, gain.ratio);
  }
  mean.geometric = std::exp(logs / static_cast<double>(gains.size()));
  return mean;
}

std::vector<Gain> OfPart(const std::vector<Gain>& gains, const std::string& part) {
  std::vector<Gain> found;
  for (const Gain& gain : gains)
    if (("-" + gain.workload + "-").find("-" + part + "-") != std::string::npos)
      found.push_back(gain);
  return found;
}

std::optional<size_t> FindMegaKv(const std::vector<Contender>& contenders) {
  for (const char* text : kMegaKv)
    if (const auto found = FindText(contenders, text)) return found;
  return std::nullopt;
}

std::vector<Gain> OverMegaKv(const std::vector<Contender>& contenders,
                             const std::vector<TableLine>& lines) {
  std::vector<Gain> gains;
  const std::optional<size_t> baseline = FindMegaKv(contenders);
  if (!baseline) return gains;
  const auto planner = std::find_if(contenders.begin(), contenders.end(),
                                    [](const Contender& each) { return each.is_auto; });
  ForEachWorkload(contenders.size(), lines, [&](size_t at, Lines all) {
    if (planner != contenders.end()) {
      const auto c = static_cast<size_t>(planner - contenders.begin());
      gains.push_back(GainOf(all, c, *baseline));
    } else if (all[0].estimate) {
      const size_t chosen = CheckChoice(lines, at, contenders.size()).chosen;
      gains.push_back(GainOf(all, chosen, *baseline));
    }
  });
  return gains;
}

std::vector<Gain> OfIndexAssignment(const std::vector<Contender>& contenders,
                                    const std::vector<TableLine>& lines) {
  std::vector<Gain> gains;
  const std::optional<size_t> baseline = FindText(contenders, kMegaKv[0]);
  if (!baseline) return gains;
  const std::vector<size_t> placements = PlacementsOf(contenders, *baseline);
  if (placements.size() < 2) return gains;
  ForEachWorkload(contenders.size(), lines, [&](size_t, Lines all) {
    if (all[0].workload.find("-G100-") == std::string::npos)
      gains.push_back(GainOf(all, BestCandidate(all, placements), *baseline));
  });
  return gains;
}

std::vector<Gain> OfPartition(const std::vector<Contender>& contenders,
                              const std::vector<TableLine>& lines) {
  std::vector<Gain> gains;
  const std::optional<size_t> baseline = FindMegaKv(contenders);
  if (!baseline) return gains;
  const std::vector<size_t> plans = WithoutStealing(contenders);
  ForEachWorkload(contenders.size(), lines, [&](size_t, Lines all) {
    gains.push_back(GainOf(all, BestCandidate(all, plans), *baseline));
  });
  return gains;
}

std::vector<Gain> OfOtherPartition(const std::vector<Contender>& contenders,
                                   const std::vector<Gain>& gains) {
  std::vector<Gain> others = gains;
  std::erase_if(others, [&](const Gain& gain) {
    return AreOnePartition(contenders[gain.contender].plan, contenders[gain.baseline].plan);
  });
  return others;
}

std::vector<Gain> OfStealing(const std::vector<Contender>& contenders,
                             const std::vector<TableLine>& lines) {
  std::vector<Gain> gains;
  const std::vector<size_t> plans = WithoutStealing(contenders);
  if (plans.empty()) return gains;
  ForEachWorkload(contenders.size(), lines, [&](size_t, Lines all) {
    const size_t best = BestCandidate(all, plans);
    if (const auto stealing = FindPlan(contenders, contenders[best].plan, true))
      gains.push_back(GainOf(all, *stealing, best));
  });
  return gains;
}

std::string BreakDownText(const std::vector<Contender>& contenders,
                          const std::vector<TableLine>& lines) {
  if (contenders.empty() || lines.empty()) return {};
  std::string text;
  AddOverMegaKv(contenders, lines, &text);
  AddIndexAssignment(contenders, lines, &text);
  AddPartition(contenders, lines, &text);
  AddStealing(contenders, lines, &text);
  if (text.empty()) return {};
  return fmt::format("{:<31} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                     fmt::format("break-down, {} us", contenders[0].interval_us), "workloads",
                     "late", "mean", "geometric", "least", "most", "paper") +
         text;
}

void PrintBreakDown(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines) {
  fmt::print("{}", BreakDownText(contenders, lines));
}

}  // namespace weft::bench
