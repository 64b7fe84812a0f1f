// sim/record/gaps.h: how many plain instructions a recorded store performs between its accesses.
//
// They aren't counted while it runs, because counting changes what is counted. They are given, as
// medians that were measured once where a machine counts instructions, or assumed.
//
// Units     instructions.
// Threads   values.
// Source    the simulator's specification, section 3.5; the defaults are assumed, and only
//           ops_total, its load knob, weighs much.
#pragma once

#include <cstdint>

namespace weft::sim {

struct Gaps {
  // Before an access whose class differs from that of the one before it.
  uint32_t to_bucket = 20;
  uint32_t to_object = 15;
  uint32_t to_append = 40;
  uint32_t to_other = 10;
  uint32_t in_class = 4;  // before one of the same class
  // From announcing a key to the controller to the first access to its bucket.
  uint32_t key_lead = 20;
  // Of an operation in all, filled up by plain instructions before its end; 0: none are added.
  uint32_t ops_total = 5000;
};

}  // namespace weft::sim
