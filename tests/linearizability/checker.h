// tests/linearizability/checker.h: could one processor, doing one operation at a time, have said
// this?
//
// A history is linearizable if every operation can have a moment between its invocation and its
// return that explains the answers. In the order of these moments, a plain register per key must
// give exactly the recorded ones. Operations of one process keep their order even where they
// overlap (pipelining).
//
// The register holds nothing, or a value and its version. Each write makes a version that nobody
// knows until an answer reports it; a cas succeeds only on the version it names; a touch changes
// nothing visible. In an evicting history the store may also drop the key at any moment.
//
// Method    Keys are independent (linearizability is local), so each is searched alone. The search
//           takes any operation that no unlinearised one must precede, and remembers each pair
//           (operations done, register) that led nowhere. An operation that only reads and agrees
//           with the register is taken at once: moving it earlier can spoil nothing.
// Cost      linear if few operations overlap; at worst exponential in how many overlap. `steps_max`
//           bounds it.
// Source    Wing and Gong, "Testing and verifying concurrent objects" (1993); Lowe, "Testing for
//           linearizability" (2017), for remembering pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "linearizability/history.h"

namespace weft::linearizability {

struct CheckOptions {
  bool evicting = false;            // the store may drop a key between any two operations
  uint64_t steps_max = 20'000'000;  // per key; beyond it the verdict is kGaveUp
};

struct Verdict {
  enum Kind : uint8_t { kLinearizable, kViolation, kGaveUp };
  Kind kind = kLinearizable;
  std::string key;    // where it went wrong
  std::string story;  // the key's operations in order of invocation, those that fit marked
  uint64_t steps = 0;

  bool ok() const { return kind == kLinearizable; }
};

// Checks all keys; stops at the first that fails. Keys are absent when the history begins.
Verdict Check(const History& history, const CheckOptions& options = {});

}  // namespace weft::linearizability
