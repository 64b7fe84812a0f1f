// bench/policy/w_tinylfu.h: W-TinyLFU: an object is kept if it is asked for more often than those
// that would make room for it.
//
// Window    the youngest objects, a hundredth of the bytes, by least recent use. What falls out of
//           it is a candidate for main. One that is larger than the window is a candidate at once.
// Main      the rest of the bytes, in two queues by least recent use. A candidate enters probation,
//           and moves to protected when it is used there. Protected has four fifths of main; what
//           does not fit goes back to probation, as the youngest.
// Admission if main has no room, the victims are the oldest of probation, then of protected, as
//           many as a candidate needs. It is admitted if its count is above the sum of theirs;
//           otherwise it is dropped. So the victims win ties. A victim without a count goes at
//           once, whatever becomes of a candidate that has one: it never costs a second look.
// Counts    a FrequencySketch, of each request once, hit or miss. It is made for as many objects as
//           the trace's mean request would fit, value and key.
// Sizes     an object larger than main is not held. A set of an object that is there is a use. If
//           the object no longer fits into main, others go. If it is too large for the window, it
//           becomes a candidate.
// Threads   one at a time.
// Cost      constant time an operation, of a set with what it drops: a candidate is compared with
//           15 victims at most that stay. 16 bytes a record and the sketch.
// Source    G. Einziger, R. Friedman, B. Manes, TinyLFU: a highly efficient cache admission policy,
//           ACM TOS 13 (2017). The sum of several victims is the admission AV of
//           G. Einziger, O. Eytan, R. Friedman, B. Manes, Lightweight robust size aware cache
//           management, ACM TOS 18 (2022). We add that victims of no count go at once.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/policy/policy.h"

namespace weft::bench {

std::unique_ptr<Policy> MakeWTinyLfu(uint64_t capacity, const Trace& trace);

}  // namespace weft::bench
