// sim/generator/op_planner.h: which operations the cores of a store perform: key, size, get or put.
//
// Operations are planned in rounds, one of each core: a get sees the puts of all cores before it in
// that order. So a core's operations don't depend on which core is asked first; the others' wait
// until they are asked for.
//
// Threads   one owner.
// Cost      40 bytes an operation that waits.
// Errors    kNoMemory: the log is full.
// Source    the simulator's specification, sections 1.4 and 3.5.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/zipf_sampler.h"
#include "sim/generator/ramcloud_store.h"

namespace weft::sim {

struct PlannedOp {
  OpType type = OpType::kGet;
  uint16_t value_bytes = 0;
  uint16_t entry_bytes = 0;
  uint32_t line = 0;
  uint16_t tag = 0;
  uint8_t slot = 0;
  uint64_t addr = 0;      // of the object that it finds
  uint64_t new_addr = 0;  // of the one that a put appends
};

class OpPlanner {
 public:
  // `ops` of all cores together. The store must outlive it.
  OpPlanner(RamcloudStore* store, int64_t ops);

  // The core's next operation. None: it has no more.
  Result<std::optional<PlannedOp>> Next(int core);

 private:
  struct Core {
    base::Random random;
    int64_t left = 0;
    std::deque<PlannedOp> planned;
  };

  Status PlanOne(int number, Core& core);

  RamcloudStore* const store_;
  std::vector<Core> cores_;
  std::vector<base::ZipfSampler> samplers_;  // by class; empty: uniform
};

}  // namespace weft::sim
