// bench/policy/policy.h: a cache as a simulation: which objects it would hold, no bytes.
//
// Objects   are whole: an object counts with its bytes, and nothing is lost to segments or slabs.
//           So a policy is the best that a store with its idea of eviction could do.
// Records   as a Trace numbers them, below the number that the policy was made for.
// Time      a policy knows no clock. Whoever plays the trace drops what has ended.
// Threads   one at a time.
// Cost      constant time an operation, except for Belady: a logarithm of the objects held. What a
//           set drops comes on top; the sets that stored it have paid for that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/trace/trace.h"
#include "weft/status.h"

namespace weft::bench {

class Policy {
 public:
  virtual ~Policy() = default;
  // Request number `request` (from 0) of the trace asks for `record`. True: it is there. Counts as
  // a use.
  virtual bool Get(uint64_t request, uint32_t record) = 0;
  // Request number `request` stores `record`, which then has `bytes`; others go until it fits. If
  // it is already there, it gets the new size and counts as used. If it is larger than the whole
  // cache, it is not held, nor is its older version. Belady and W-TinyLFU may refuse others, too. A
  // get that misses, and the set that fills it, have one number.
  virtual void Set(uint64_t request, uint32_t record, uint32_t bytes) = 0;
  // No effect if it is not there, except that its ghost goes.
  virtual void Delete(uint32_t record) = 0;
  // Of the objects held. Never above the capacity.
  virtual uint64_t bytes() const = 0;
};

struct PolicyForm {
  std::string name;     // "s3-fifo"
  std::string meaning;  // a few words for --help, with the source
};
const std::vector<PolicyForm>& PolicyForms();

// A policy by name, which holds at most `capacity` bytes. `trace` must outlive it; Belady looks
// ahead in it. kInvalidArgument: no such name; the message lists them.
Result<std::unique_ptr<Policy>> MakePolicy(const std::string& name, uint64_t capacity,
                                           const Trace& trace);

}  // namespace weft::bench
