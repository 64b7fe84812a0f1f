// bench/pipeline/breakdown.h: where the gain over Mega-KV's static plan comes from, beside the
// paper's figures.
//
// A gain is a ratio of two contenders' rates for one workload. "The best" of some contenders is the
// fastest of those that kept the interval when they were measured, or of all where none did. It is
// picked by the very rates that are compared: their noise makes it look a little better than it is,
// and what is then added to it, stealing, a little worse.
//
// Threads   pure functions; one thread prints.
// Source    paper 000, sections V-C and V-D (figures 11, 13, 14 and 15).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/pipeline/table.h"

namespace weft::bench {

struct Gain {
  std::string workload;
  size_t contender = 0, baseline = 0;
  double ratio = 1;  // the contender's rate to the baseline's
  bool kept = true;  // the interval, by both
};

// Of the ratios; all 0 if there are none.
struct MeanGain {
  size_t workloads = 0;
  size_t late = 0;  // of these, one of the two did not keep the interval
  double arithmetic = 0, geometric = 0;
  double least = 0, most = 0;
};
MeanGain MeanOf(const std::vector<Gain>& gains);

// The gains of workloads whose name has the part between dashes: "K8", "G95", "U".
std::vector<Gain> OfPart(const std::vector<Gain>& gains, const std::string& part);

// The contender with Mega-KV's plan, all index operations on gpu0, without stealing. If there is
// none, because the device changes nothing, the one whose last stage makes the changes.
std::optional<size_t> FindMegaKv(const std::vector<Contender>& contenders);

// For all below: `lines` as PrintTable takes them; a gain a workload, none if a contender that is
// needed is missing.

// The planner's contender, or if there is none, the model's choice (CheckChoice), over Mega-KV's.
std::vector<Gain> OverMegaKv(const std::vector<Contender>& contenders,
                             const std::vector<TableLine>& lines);

// With Mega-KV's partition and without stealing, the best placement of Insert and Delete over all
// index operations on gpu0. Workloads without SETs have no such operations and are left out.
std::vector<Gain> OfIndexAssignment(const std::vector<Contender>& contenders,
                                    const std::vector<TableLine>& lines);

// The best plan without stealing, one stage included, over Mega-KV's.
std::vector<Gain> OfPartition(const std::vector<Contender>& contenders,
                              const std::vector<TableLine>& lines);
// Of these, where the best plan differs in more than the place of Insert and Delete.
std::vector<Gain> OfOtherPartition(const std::vector<Contender>& contenders,
                                   const std::vector<Gain>& gains);

// The best plan without stealing: the same plan with stealing over it.
// Workloads whose best plan is not among the contenders with stealing, as one stage, are left out.
std::vector<Gain> OfStealing(const std::vector<Contender>& contenders,
                             const std::vector<TableLine>& lines);

// Lines that begin with "break-down"; empty if nothing can be said.
std::string BreakDownText(const std::vector<Contender>& contenders,
                          const std::vector<TableLine>& lines);
void PrintBreakDown(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines);

}  // namespace weft::bench
