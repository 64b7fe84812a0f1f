// bench/workload/operation.h: one operation of a workload, and what became of it. Workloads make
// operations, targets carry them out; neither knows the other.
//
// A record is a number; its key and its value, of each version, follow from it
// (bench/workload/record.h).
//
// Threads   values.
#pragma once

#include <cstdint>

namespace weft::bench {

enum class OperationKind : uint8_t {
  kRead,             // one record
  kUpdate,           // the whole value: of a record that is there
  kInsert,           // likewise: of one that is not
  kReadModifyWrite,  // a read: then an update of the same record
  kScan,             // `scan_length` records from one on, in the order of keys
  kDelete
};
inline constexpr int kOperationKinds = 6;

// "read", "update", "insert", "read-modify-write", "scan", "delete".
const char* NameOf(OperationKind kind);

struct Operation {
  OperationKind kind = OperationKind::kRead;
  uint32_t scan_length = 0;  // kScan: at least 1
  uint32_t version = 0;      // of the value that is written
  uint64_t record = 0;
  uint64_t tag = 0;    // the caller's; comes back with the outcome
  uint32_t ttl_s = 0;  // after which a cache drops what is written; 0: never
};

enum class OutcomeKind : uint8_t {
  kDone,     // carried out; what was read is a value of that record, byte for byte
  kMissing,  // a read, or a delete of a store that can tell: it found no record
  kRefused,  // the store declined, perhaps for lack of memory; the old value may be gone
  kWrong     // an answer that can't be: another record's value, a spoiled byte, keys out of order
};

struct Outcome {
  uint64_t tag = 0;
  OperationKind kind = OperationKind::kRead;
  OutcomeKind outcome = OutcomeKind::kDone;
  uint32_t records = 0;  // read: 0 or 1; of a scan up to scan_length
  uint32_t version = 0;  // of the value that was read, where one was
};

}  // namespace weft::bench
