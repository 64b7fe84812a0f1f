// bench/pipeline/folding.h: throughput when workloads alternate: all cycles laid over each other,
// and the time after a change until throughput is steady.
//
// Threads   pure functions.
// Source    paper 000, section V-F, figure 20.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::bench {

// Mean of each slot of a cycle over all whole cycles except the first, which nothing preceded.
// `slots`: counts since a cycle began, of `slot_s` seconds each. Counts a second; empty if there
// are not two cycles.
std::vector<double> Fold(std::span<const uint64_t> slots, size_t slots_of_cycle, double slot_s);

// One workload's part of a cycle.
struct Recovery {
  double steady = 0;  // mean of the last third of its slots
  // Slots from its beginning until all that follow have kNearShare of `steady`; all of them if not
  // even the last one has it.
  size_t slots = 0;
};
inline constexpr double kNearShare = 0.95;
// REQUIRES: slots that are not empty
Recovery RecoveryOf(std::span<const double> slots);

}  // namespace weft::bench
