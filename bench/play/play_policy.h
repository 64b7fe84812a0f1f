// bench/play/play_policy.h: a trace played against a simulated cache, look-aside: each get that
// misses is followed by a set.
//
// Objects   take the bytes of key and value and kItemBytes more, as in Weft's cache. So a policy
//           with the bytes of -m is held to the same memory.
// Time      is the trace's: an object that has expired is dropped when it is next asked for, and
//           takes its room until then.
// Threads   one at a time.
#pragma once

#include "bench/play/tally.h"
#include "bench/policy/policy.h"
#include "bench/trace/trace.h"

namespace weft::bench {

// A header of 8 bytes, and 8 of an index that is three quarters full.
inline constexpr uint32_t kItemBytes = 19;

// Of an object whose value has `value_bytes`.
inline uint32_t PolicyBytesOf(const Trace& trace, uint32_t record, uint32_t value_bytes) {
  return trace.key_bytes[record] + value_bytes + kItemBytes;
}

TraceTally PlayPolicy(const Trace& trace, Policy* policy);

}  // namespace weft::bench
