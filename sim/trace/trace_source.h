// sim/trace/trace_source.h: where a simulation's records come from: a file, a generator, a list.
//
// Threads   one owner.
// Source    the simulator's specification, section 3.4.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/trace/record.h"
#include "sim/trace/table_image.h"
#include "weft/status.h"

namespace weft::sim {

// What a trace says of the traced store. Addresses as in record.h; limits are exclusive.
struct StoreShape {
  uint64_t table_base = 0;
  uint64_t table_limit = 0;  // overflow buckets are above it
  uint64_t log_base = 0;     // of objects
  uint64_t log_limit = 0;
  uint64_t buckets = 0;  // of 64 bytes, bucket b at table_base + 64 * b
  int slots_per_bucket = 8;
  // Bytes of an object besides its value: header and key.
  int object_overhead_bytes = 0;
  // With this many bytes or more, an object has one more, because its length takes it. 0: never.
  int long_object_bytes = 0;

  uint64_t ObjectBytes(uint64_t value_bytes) const {
    const uint64_t bytes = value_bytes + static_cast<uint64_t>(object_overhead_bytes);
    return bytes + (IsLong(bytes) ? 1 : 0);
  }
  // The value's bytes, in an object of `object_bytes`. REQUIRES: object_bytes > 0
  uint64_t ValueBytes(uint64_t object_bytes) const {
    const auto overhead = static_cast<uint64_t>(object_overhead_bytes);
    const uint64_t bytes = IsLong(object_bytes - 1) ? object_bytes - 1 : object_bytes;
    return bytes < overhead ? 0 : bytes - overhead;
  }

  bool operator==(const StoreShape&) const = default;

 private:
  bool IsLong(uint64_t bytes) const {
    return long_object_bytes > 0 && bytes >= static_cast<uint64_t>(long_object_bytes);
  }
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;
  virtual int cores() const = 0;
  virtual const StoreShape& shape() const = 0;
  // The index as it is before the first record.
  virtual TableImage InitialTable() const = 0;
  // The core's next record; false: it has no more. Cores may be asked in any order: it does not
  // change what a core does.
  virtual Result<bool> Next(int core, Record* record) = 0;

  // Whether it can tell what an operation does to the index without its accesses.
  virtual bool has_marks() const { return false; }
  // The kSlot, kChain and kHit records, in their order, of the core's next operation, which is then
  // over; false: there is none. REQUIRES: has_marks(); Next() has given all of the one before
  virtual Result<bool> NextMarks(int /*core*/, std::vector<Record>* /*marks*/) { return false; }
};

}  // namespace weft::sim
