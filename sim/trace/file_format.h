// sim/trace/file_format.h: a trace as a folder: core-0.trace to core-N.trace with each core's
// records, and layout.bin with the index as it was before them.
//
// Layout    of a core's file, little-endian: the header below, then 24 bytes a record (record.h).
//
//     offset  0        8         10      12     14      15         16           24
//             | magic  | version | cores | core | slots | reserved | table_base | table_limit |
//     offset  32         40          48        52         54     56        64
//             | log_base | log_limit | buckets | overhead | long | records |
//
//           overhead and long are StoreShape's object_overhead_bytes and long_object_bytes.
//           layout.bin has 16 bytes a slot, bucket after bucket: addr in 48 bits, tag in 16, bytes
//           in 32, and 32 of which the lowest says that the slot is a chain.
// Threads   pure.
// Errors    Decode's: what is wrong, without a place; whoever reads the file adds it.
// Source    the simulator's specification, section 3.4. Of what it wants in the header, lines
//           always have 64 bytes; the seed and the generator are in the writer's output.
#pragma once

#include <cstdint>
#include <span>

#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace weft::sim {

inline constexpr char kTraceMagic[9] = "KVTRACE1";
inline constexpr int kTraceVersion = 1;
inline constexpr size_t kTraceHeaderBytes = 64;
inline constexpr size_t kTraceRecordBytes = 24;
inline constexpr size_t kLayoutSlotBytes = 16;
inline constexpr int kTraceCoresMax = 4096;

struct TraceHeader {
  int cores = 0;
  int core = 0;  // whose file it is
  StoreShape shape;
  uint64_t records = 0;
};

void Encode(const TraceHeader& header, std::span<char, kTraceHeaderBytes> out);
void Encode(const TableSlot& slot, std::span<char, kLayoutSlotBytes> out);

// kCorruption: no such header, or a shape that no store has.
Result<TraceHeader> DecodeHeader(std::span<const char, kTraceHeaderBytes> bytes);
TableSlot DecodeSlot(std::span<const char, kLayoutSlotBytes> bytes);

// kInvalidArgument: the shape doesn't fit into the header.
Status CheckShape(const StoreShape& shape);

// What a core's records were, so far.
struct RecordsBefore {
  uint64_t accesses = 0;
  uint64_t open_ops = 0;  // begun and not ended

  void Add(const Record& record) {
    accesses += record.IsAccess();
    open_ops += record.kind == RecordKind::kOpBegin;
    open_ops -= record.kind == RecordKind::kOpEnd;
  }
};

// What is wrong with a record of a store of that shape in a memory of `memory_bytes`; kOk: nothing.
// kCorruption.
Status CheckRecord(const Record& record, const StoreShape& shape, uint64_t memory_bytes,
                   const RecordsBefore& before);

}  // namespace weft::sim
