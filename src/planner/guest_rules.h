// planner/guest_rules.h: what a measurement keeps to where others are at work on the machine.
//
// Threads   stop: any. before_turn: the measuring one, which is the one that calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "weft/status.h"

namespace weft::planner {

struct GuestRules {
  // Of all that it takes at once, about: the store that is measured with, requests, batches, jobs.
  uint64_t scratch_bytes = 0;
  // Told before each turn, some tens of milliseconds of work. It may wait as long as it likes. What
  // it returns, if that is an error, ends the measurement.
  std::function<Status()> before_turn;
  // Once it is true the measurement ends within a turn, with kRetryLater.
  std::atomic<bool> stop{false};
};

// That a measurement with so many workers needs: a store of more than any core's own caches, and
// batches of long values for each worker.
constexpr uint64_t ScratchBytesMin(uint32_t workers) {
  return (uint64_t{32} << 20) + workers * (uint64_t{8} << 20);
}

}  // namespace weft::planner
