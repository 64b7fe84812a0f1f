// bench/walk/ceiling.h: the rate of the bare walk on this machine for objects of a workload's size
// and number: the ceiling for whatever looks them up.
//
// Memory    as much as the objects and their index take, besides the store that is measured.
// Threads   one owner; Measure starts its own and ends them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/harness/key_picker.h"
#include "bench/walk/walk.h"
#include "weft/status.h"

namespace weft::bench {

// All threads together, with the batch that suits them best.
struct CeilingFigure {
  double per_s = 0;
  uint32_t batch = 0;
};

class Ceiling {
 public:
  // `object_bytes` is rounded up to a multiple of 8. kNoMemory: the machine has too little left.
  // Beside a walk that does not fit, nothing is measured.
  static Result<std::unique_ptr<Ceiling>> Make(uint64_t objects, uint32_t object_bytes,
                                               bool huge_pages, uint64_t seed);

  // `picker`: draws objects as the workload does. Thread i runs on cpus[i % size]. Takes half a
  // second, and the drawing of two million objects a thread.
  CeilingFigure Measure(const KeyPicker& picker, size_t threads,
                        const std::vector<int>& cpus) const;

  uint64_t objects() const { return objects_; }
  uint32_t object_bytes() const { return object_bytes_; }
  uint64_t bytes() const { return walk_.bytes(); }

 private:
  Ceiling(uint64_t objects, uint32_t object_bytes, bool huge_pages, uint64_t seed);

  const uint64_t objects_;
  const uint32_t object_bytes_;
  const uint64_t seed_;
  const Walk walk_;
};

}  // namespace weft::bench
