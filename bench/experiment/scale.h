// bench/experiment/scale.h: how many records an experiment's data set has. They are scaled to the
// machine's memory, so that machines of different sizes are loaded alike.
//
// The data is a fixed fraction of the memory. Paper 002 gives each of its servers 350,000 records
// of 1 KB for a GiB of memory, a third of it. The data must also fit, and a durable store needs up
// to twice its data while it compacts: on its disk and, because the data should stay in memory, of
// the memory that can be had. A cache must not evict.
//
// Units     bytes; records.
// Threads   one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "bench/drive/measure_options.h"
#include "bench/workload/record.h"

namespace weft::bench {

inline constexpr double kDataFraction = 1.0 / 3;

struct DataRoom {
  uint64_t memory_bytes = 0;          // of the machine
  uint64_t free_bytes = UINT64_MAX;   // for a durable store
  uint64_t cache_bytes = UINT64_MAX;  // of a cache with its index; if none is measured: no limit
};

// What this machine has for `options`' targets.
DataRoom RoomFor(const MeasureOptions& options);

struct DataSize {
  uint64_t records = 0;
  bool is_limited = false;  // by what fits: it is not the fraction
};
DataSize ScaledRecords(const RecordOptions& record, double fraction, const DataRoom& room);

// "7833600 records of 1024 B, 0.333 of 23.5 GiB".
std::string ToText(const DataSize& size, const RecordOptions& record, const DataRoom& room);

}  // namespace weft::bench
