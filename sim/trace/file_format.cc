#include "sim/trace/file_format.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace weft::sim {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they lie");

constexpr uint64_t kBucketBytes = 64;

template <typename T>
void Put(T value, char* out) {
  std::memcpy(out, &value, sizeof value);
}
template <typename T>
T Get(const char* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

Status Corrupt(std::string what) { return {Code::kCorruption, std::move(what)}; }

Status CheckPlace(const Record& record, const StoreShape& shape, bool slot_is_needed) {
  if (record.aux >= shape.buckets) {
    return Corrupt(
        fmt::format("bucket {} does not exist: the index has {}", record.aux, shape.buckets));
  }
  if (record.slot >= shape.slots_per_bucket && (slot_is_needed || record.slot != kNoSlot)) {
    return Corrupt(fmt::format("slot {} does not exist: a bucket has {}", record.slot,
                               shape.slots_per_bucket));
  }
  return Status::Ok();
}

// The record's bytes lie in memory.
Status CheckBytes(const Record& record, uint64_t memory_bytes) {
  if (record.addr < memory_bytes && record.size <= memory_bytes - record.addr) return Status::Ok();
  return Corrupt(fmt::format("{} bytes at {:#x} are not in a memory of {:#x}", record.size,
                             record.addr, memory_bytes));
}

Status CheckAccess(const Record& record, uint64_t memory_bytes, uint64_t accesses) {
  if (record.size == 0) return Corrupt("an access of no bytes");
  if (record.dep > accesses) {
    return Corrupt(fmt::format("it waits for the access {} before it, but there are only {}",
                               record.dep, accesses));
  }
  return CheckBytes(record, memory_bytes);
}

}  // namespace

void Encode(const TraceHeader& header, std::span<char, kTraceHeaderBytes> out) {
  std::memset(out.data(), 0, out.size());
  const StoreShape& shape = header.shape;
  std::memcpy(out.data(), kTraceMagic, 8);
  Put(static_cast<uint16_t>(kTraceVersion), &out[8]);
  Put(static_cast<uint16_t>(header.cores), &out[10]);
  Put(static_cast<uint16_t>(header.core), &out[12]);
  Put(static_cast<uint8_t>(shape.slots_per_bucket), &out[14]);
  Put(shape.table_base, &out[16]);
  Put(shape.table_limit, &out[24]);
  Put(shape.log_base, &out[32]);
  Put(shape.log_limit, &out[40]);
  Put(static_cast<uint32_t>(shape.buckets), &out[48]);
  Put(static_cast<uint16_t>(shape.object_overhead_bytes), &out[52]);
  Put(static_cast<uint16_t>(shape.long_object_bytes), &out[54]);
  Put(header.records, &out[56]);
}

void Encode(const TableSlot& slot, std::span<char, kLayoutSlotBytes> out) {
  Put(slot.addr | uint64_t{slot.tag} << 48, &out[0]);
  Put(slot.bytes, &out[8]);
  Put(slot.is_chain ? 1u : 0u, &out[12]);
}

Result<TraceHeader> DecodeHeader(std::span<const char, kTraceHeaderBytes> bytes) {
  if (std::memcmp(bytes.data(), kTraceMagic, 8) != 0) {
    return Corrupt(fmt::format("it must begin with {}", kTraceMagic));
  }
  const auto version = Get<uint16_t>(&bytes[8]);
  if (version != kTraceVersion) {
    return Corrupt(
        fmt::format("it has version {}, but this program reads {}", version, kTraceVersion));
  }
  TraceHeader header;
  header.cores = Get<uint16_t>(&bytes[10]);
  header.core = Get<uint16_t>(&bytes[12]);
  if (header.cores < 1 || header.cores > kTraceCoresMax || header.core >= header.cores) {
    return Corrupt(fmt::format("core {} of {}", header.core, header.cores));
  }
  StoreShape& shape = header.shape;
  shape.slots_per_bucket = Get<uint8_t>(&bytes[14]);
  shape.table_base = Get<uint64_t>(&bytes[16]);
  shape.table_limit = Get<uint64_t>(&bytes[24]);
  shape.log_base = Get<uint64_t>(&bytes[32]);
  shape.log_limit = Get<uint64_t>(&bytes[40]);
  shape.buckets = Get<uint32_t>(&bytes[48]);
  shape.object_overhead_bytes = Get<uint16_t>(&bytes[52]);
  shape.long_object_bytes = Get<uint16_t>(&bytes[54]);
  header.records = Get<uint64_t>(&bytes[56]);
  const Status status = CheckShape(shape);
  if (!status.ok()) return Corrupt(std::string(status.message()));
  return header;
}

TableSlot DecodeSlot(std::span<const char, kLayoutSlotBytes> bytes) {
  const auto word = Get<uint64_t>(&bytes[0]);
  return {.addr = word & ((uint64_t{1} << 48) - 1),
          .bytes = Get<uint32_t>(&bytes[8]),
          .tag = static_cast<uint16_t>(word >> 48),
          .is_chain = (Get<uint32_t>(&bytes[12]) & 1) != 0};
}

Status CheckShape(const StoreShape& shape) {
  const auto wrong = [](std::string what) {
    return Status(Code::kInvalidArgument, std::move(what));
  };
  if (shape.buckets == 0 || shape.buckets > UINT32_MAX) {
    return wrong(fmt::format("an index of {} buckets", shape.buckets));
  }
  if (shape.slots_per_bucket < 1 || shape.slots_per_bucket > 8) {
    return wrong(fmt::format("buckets of {} slots; a line has 1 to 8", shape.slots_per_bucket));
  }
  if (shape.table_limit < shape.table_base ||
      (shape.table_limit - shape.table_base) / kBucketBytes < shape.buckets) {
    return wrong(fmt::format("{} buckets are not within {:#x} to {:#x}", shape.buckets,
                             shape.table_base, shape.table_limit));
  }
  if (shape.log_limit < shape.log_base) {
    return wrong(fmt::format("a log of {:#x} to {:#x}", shape.log_base, shape.log_limit));
  }
  for (const int bytes : {shape.object_overhead_bytes, shape.long_object_bytes}) {
    if (bytes < 0 || bytes > UINT16_MAX) return wrong(fmt::format("an object of {} bytes", bytes));
  }
  return Status::Ok();
}

Status CheckRecord(const Record& record, const StoreShape& shape, uint64_t memory_bytes,
                   const RecordsBefore& before) {
  const auto kind = static_cast<int>(record.kind);
  if (kind >= kRecordKinds) return Corrupt(fmt::format("unknown kind {}", kind));
  const auto cls = static_cast<int>(record.cls);
  if (cls >= kAccessClasses) return Corrupt(fmt::format("unknown class {}", cls));
  if (record.IsAccess()) return CheckAccess(record, memory_bytes, before.accesses);
  switch (record.kind) {
    case RecordKind::kOpBegin:
      if (record.aux <= static_cast<uint32_t>(OpType::kPut)) return Status::Ok();
      return Corrupt(fmt::format("unknown operation {}", record.aux));
    case RecordKind::kOpEnd:
      if (before.open_ops > 0) return Status::Ok();
      return Corrupt("the end of an operation that hasn't begun");
    case RecordKind::kKey:
      if (record.slot >= shape.slots_per_bucket && record.slot != kNoSlot) {
        return Corrupt(fmt::format("slot {} does not exist: a bucket has {}", record.slot,
                                   shape.slots_per_bucket));
      }
      return CheckBytes(record, memory_bytes);
    case RecordKind::kHit: return CheckPlace(record, shape, false);
    case RecordKind::kSlot:
    case RecordKind::kChain: {
      const Status status = CheckPlace(record, shape, true);
      const bool erases = record.kind == RecordKind::kSlot && record.size == 0;
      return status.ok() && !erases ? CheckBytes(record, memory_bytes) : status;
    }
    default: return Status::Ok();
  }
}

}  // namespace weft::sim
