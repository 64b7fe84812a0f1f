// sim/generator/op_records.h: the records of a get or put, as RAMCloud performs it.
//
// A get, with the distance in instructions from the record before:
//     kOpBegin, the key, its bucket's software prefetch
//     661  read of entry 0, then 20 each of the next ones, up to the one that matches
//      57  read of it again, for its pointer
//      77  read of the object's first 3 bytes: type and length
//       3  software prefetch of each of its lines, 4 apart; only if it is < 300 bytes
//       8  reads of its lines, 8 apart
//     kHit, accesses of the core's own data, kOpEnd
// Through a chain, the last entry's pointer leads to the overflow bucket, read like the first. A
// put reads only the lines of header and key, appends the new object (a write a line) and writes
// the entry. If that isn't in an overflow bucket, a kSlot follows. An operation is filled up with
// plain instructions to `instr_per_op`.
//
// If an entry before a key's has its tag by chance, the key is found all the same: the look at the
// wrong object (one get in 20,000) is left out.
//
// Threads   one owner.
// Source    paper 004, table 1; RAMCloud at b1866af1: HashTable, Segment; the simulator's
//           specification, sections 1.2 and 3.5. The 8 between reads, and that the first prefetch
//           comes 3 after the length (so that the paper's 838 and 842 come out), is ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sim/generator/op_planner.h"
#include "sim/trace/record.h"

namespace weft::sim {

enum class ObjectPrefetch {
  kOff,
  kBelow300,  // RAMCloud's rule
  kAll,
};

// kInvalidArgument: neither off, lt300 nor all.
Result<ObjectPrefetch> ParseObjectPrefetch(std::string_view text);

// Instructions to an operation's first read of the bucket. Without a software prefetch of it, only
// a key_lead above this moves the read.
inline constexpr uint32_t kToFirstEntry = 661;

struct OpShape {
  uint32_t instr_per_op = 5000;  // at least: operations that need more have more
  uint32_t key_lead = 20;        // from kKey to the first access of the bucket
  bool put_key = true;           // puts have a kKey; false: only gets do
  bool bucket_prefetch = true;
  ObjectPrefetch object_prefetch = ObjectPrefetch::kBelow300;
  bool prefetch_is_load = false;
  bool length_dep = true;  // an object's lines wait for its length; false: for its pointer only
  int other_per_op = 8;    // accesses of the core's own data, every fourth a write
};

class OpRecords {
 public:
  OpRecords(const RamcloudStore* store, const OpShape& shape, int core);

  // Replaces `records` by those of `op`.
  void Write(const PlannedOp& op, std::vector<Record>* records);
  // Likewise, but only what says what the index then has, and where the key was: kSlot and kHit.
  // Whatever is written after it is the same as after Write().
  void WriteMarks(const PlannedOp& op, std::vector<Record>* records);

 private:
  void Plain(uint32_t instructions);
  void Mark(const Record& mark);
  // Returns its number among the operation's accesses. `distance` from the access before.
  int Access(uint32_t distance, RecordKind kind, AccessClass cls, uint64_t addr, uint64_t size,
             int producer = kNone);
  // Reads or writes each line of [addr, addr + size).
  void AccessLines(RecordKind kind, AccessClass cls, uint64_t addr, uint64_t size, int producer);

  int FindEntry(const PlannedOp& op, uint32_t distance);
  void ReadObject(const PlannedOp& op, int pointer);
  void Append(const PlannedOp& op);
  void AccessOwnData();
  uint64_t DrawOwnWord();
  Record SlotMark(const PlannedOp& op) const;
  Record HitMark(const PlannedOp& op);

  static constexpr int kNone = -1;

  // Constant after construction.
  const RamcloudStore* const store_;
  const OpShape shape_;
  const uint64_t own_data_;

  base::Random random_;
  std::vector<Record>* records_ = nullptr;
  std::vector<uint32_t> path_;
  uint32_t gap_ = 0;           // plain instructions since the last record
  uint32_t instructions_ = 0;  // of the operation so far
  int accesses_ = 0;
};

}  // namespace weft::sim
