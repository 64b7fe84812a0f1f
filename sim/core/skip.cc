// Which cycles of a core need not be performed one by one, and what they come to.

#include <algorithm>

#include "base/check.h"
#include "sim/core/core.h"

namespace weft::sim {

int64_t Core::CyclesToSkip() {
  // What didn't start in this cycle waits for data, or for a miss to end: for Filled().
  if (has_started_ && !(not_started_.empty() && stores_.empty())) return 0;
  const int takes = options_.width / options_.plain_slots;
  int64_t cycles = kForever;
  retires_a_cycle_ = options_.width;
  if (head_ != tail_) {
    const Entry& entry = At(head_);
    if (entry.plains > 0) {
      cycles = (entry.plains - 1) / options_.width;  // the last may retire with what follows
    } else if (IsRetirable(entry)) {
      return 0;
    } else {
      retires_a_cycle_ = 0;
    }
  } else if (has_ended_) {
    takes_a_cycle_ = 0;
    return instructions_ > 0 ? 0 : kForever;
  }
  const bool is_stuck = retires_a_cycle_ == 0;
  const int room = options_.window - instructions_;
  takes_a_cycle_ = takes;
  if (gap_left_ > 0 && (!is_stuck || room > 0)) {
    // In the cycle that takes the last of the gap in, what comes after it may come in as well.
    cycles = std::min<int64_t>(cycles, (gap_left_ - 1) / takes);
    if (is_stuck) cycles = std::min<int64_t>(cycles, room / takes);
  } else {
    takes_a_cycle_ = 0;
    const bool fits =
        has_record_ && gap_left_ == 0 && has_entry_room() && (!record_.IsAccess() || room > 0);
    if (fits || (has_record_ && !is_stuck)) return 0;
  }
  return cycles;
}

void Core::SkipTo(int64_t cycle) {
  const int64_t cycles = cycle - cycle_;
  WEFT_DCHECK(cycles >= 0 && (cycles == 0 || cycles <= skip_));
  if (cycles == 0) return;
  cycle_ = cycle;
  const auto width = static_cast<int64_t>(options_.width);
  const int64_t taken = takes_a_cycle_ * cycles;
  int64_t retired = retires_a_cycle_ * cycles;
  if (head_ == tail_) {
    // Those of the last cycle stay, and what more there was than a cycle's retirement.
    const int64_t left =
        std::max<int64_t>(instructions_ - (width - takes_a_cycle_) * cycles, takes_a_cycle_);
    retired = instructions_ + taken - left;
    tail_plains_ = static_cast<int>(left);
  } else {
    At(head_).plains -= static_cast<int>(retired);
    tail_plains_ += static_cast<int>(taken);
  }
  gap_left_ -= static_cast<uint32_t>(taken);
  const bool was_empty = instructions_ == 0;
  instructions_ += static_cast<int>(taken - retired);
  if (ops_retired_ < options_.warmup_ops) return;
  figures_.cycles += cycles;
  figures_.instructions += retired;
  if (retires_a_cycle_ == 0 && !was_empty) figures_.stalled_cycles += cycles;
}

}  // namespace weft::sim
