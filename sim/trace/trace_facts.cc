#include "sim/trace/trace_facts.h"

#include <array>
#include <string>
#include <vector>

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, kRecordKinds> kKindNames = {
    "read", "write", "prefetch", "op_begin", "op_end", "key", "hit", "slot", "chain"};
constexpr std::array<const char*, kAccessClasses> kClassNames = {
    "other", "bucket", "object_head", "object_body", "log_append", "stack", "network_buffer"};

struct Counts {
  std::array<uint64_t, kRecordKinds> kinds{};
  std::array<uint64_t, kAccessClasses> classes{};  // of accesses
  uint64_t gets = 0;
  uint64_t puts = 0;
  uint64_t overflow_hits = 0;
  uint64_t instructions = 0;

  void Add(const Record& record) {
    ++kinds[static_cast<size_t>(record.kind)];
    instructions += record.gap;
    if (record.IsAccess()) {
      ++classes[static_cast<size_t>(record.cls)];
      ++instructions;
    }
    if (record.kind == RecordKind::kOpBegin) {
      ++(record.aux == static_cast<uint32_t>(OpType::kPut) ? puts : gets);
    }
    overflow_hits += record.kind == RecordKind::kHit && record.slot == kNoSlot;
  }
};

template <size_t kNames>
Json Named(const std::array<const char*, kNames>& names,
           const std::array<uint64_t, kNames>& counts) {
  Json named;
  for (size_t i = 0; i < kNames; ++i) named[names[i]] = counts[i];
  return named;
}

Json ShapeOf(const StoreShape& shape) {
  return {{"table_base", shape.table_base},
          {"table_limit", shape.table_limit},
          {"log_base", shape.log_base},
          {"log_limit", shape.log_limit},
          {"buckets", shape.buckets},
          {"slots_per_bucket", shape.slots_per_bucket},
          {"object_overhead_bytes", shape.object_overhead_bytes},
          {"long_object_bytes", shape.long_object_bytes}};
}

// Of the index proper: overflow buckets are no part of its image.
Json IndexOf(const TableImage& table) {
  std::vector<uint64_t> buckets(static_cast<size_t>(table.slots_per_bucket()) + 1);
  uint64_t chains = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;
  for (uint64_t bucket = 0; bucket < table.buckets(); ++bucket) {
    size_t in_bucket = 0;
    for (int slot = 0; slot < table.slots_per_bucket(); ++slot) {
      const TableSlot& found = table.At(bucket, slot);
      chains += found.is_chain;
      in_bucket += found.has_object();
      if (found.has_object()) bytes += found.bytes;
    }
    ++buckets[in_bucket];
    objects += in_bucket;
  }
  return {{"objects", objects},
          {"object_bytes", bytes},
          {"chained_buckets", chains},
          {"buckets_by_objects", buckets}};
}

}  // namespace

Result<Json> FactsOf(TraceSource& source) {
  const Json index = IndexOf(source.InitialTable());
  Counts counts;
  std::vector<uint64_t> records(static_cast<size_t>(source.cores()));
  for (int core = 0; core < source.cores(); ++core) {
    for (Record record;;) {
      const Result<bool> next = source.Next(core, &record);
      if (!next) return next.error();
      if (!next.value()) break;
      counts.Add(record);
      ++records[static_cast<size_t>(core)];
    }
  }
  return Json{{"cores", source.cores()},
              {"records_by_core", records},
              {"gets", counts.gets},
              {"puts", counts.puts},
              {"hits_in_overflow_buckets", counts.overflow_hits},
              {"instructions", counts.instructions},
              {"records", Named(kKindNames, counts.kinds)},
              {"accesses", Named(kClassNames, counts.classes)},
              {"store", ShapeOf(source.shape())},
              {"index", index}};
}

}  // namespace weft::sim
