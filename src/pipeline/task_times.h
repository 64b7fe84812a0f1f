// pipeline/task_times.h: how long each task of a query took, and how large the batches were.
//
// Threads   one worker writes; any thread reads and sums.
// Units     ticks of the processor's time stamp counter, told as nanoseconds; queries.
// Accuracy  what IN.insert took of sets in rows is measured for one row in seven, and estimated by
//           the last of those for the others (CpuStage::RunSets). The clock would cost more.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/counter.h"
#include "base/ticks.h"

namespace weft::pipeline {

// The eight tasks of paper 000, section III; IN is three, placed independently.
enum class Task : uint8_t {
  kReceive,  // RV
  kParse,    // PP
  kMemory,   // MM
  kSearch,   // IN.search
  kInsert,   // IN.insert
  kDelete,   // IN.delete
  kCompare,  // KC
  kRead,     // RD
  kWrite,    // WR
  kSend,     // SD
};
inline constexpr uint32_t kTaskCount = 10;

// "RV", "IN.search", ...
std::string_view TaskName(Task task);

struct TaskTimes {
  void Add(Task task, uint64_t ticks, uint64_t query_count) {
    time_ticks[static_cast<size_t>(task)].Add(ticks);
    queries[static_cast<size_t>(task)].Add(query_count);
  }
  uint64_t time_ns(Task task) const {
    return base::NsOfTicks(time_ticks[static_cast<size_t>(task)].value());
  }

  std::array<base::Counter, kTaskCount> time_ticks;  // of base::ReadTicks
  std::array<base::Counter, kTaskCount> queries;
  // Of MM's time: between batches, and of stores that waited for room.
  base::Counter maintain_ticks;
  base::Counter batches;
  // Batches of 1, 2-3, 4-7, ... queries.
  std::array<base::Counter, 20> batch_sizes;
};

}  // namespace weft::pipeline
