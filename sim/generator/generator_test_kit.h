// sim/generator/generator_test_kit.h: a helper of the trace sources' tests.
//
// Threads   one owner.
#pragma once

#include <vector>

#include "sim/trace/trace_source.h"

namespace weft::sim {

// The core's records up to the next kOpEnd, with it; none if it has no more.
inline std::vector<Record> NextOp(TraceSource& source, int core) {
  std::vector<Record> records;
  Record record;
  while (source.Next(core, &record).value()) {
    records.push_back(record);
    if (record.kind == RecordKind::kOpEnd) break;
  }
  return records;
}

}  // namespace weft::sim
