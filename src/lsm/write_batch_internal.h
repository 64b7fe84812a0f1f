// lsm/write_batch_internal.h: what the store, but not its users, does with a write batch.
//
// Threads   as WriteBatch; InsertInto of different batches into one memtable: any at once.
// Layout    docs/formats/write-batch.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "table/internal_key.h"
#include "weft/status.h"
#include "weft/write_batch.h"

namespace weft::lsm {

class MemTable;

}  // namespace weft::lsm

namespace weft {

class WriteBatchInternal {
 public:
  // Sequence number (8) and count (4).
  static constexpr size_t kHeaderBytes = 12;

  // Of the first change; change i has that plus i.
  static table::SequenceNumber Sequence(const WriteBatch& batch);
  static void SetSequence(WriteBatch* batch, table::SequenceNumber sequence);

  // The same of bytes that hold a batch. REQUIRES: contents.size() >= kHeaderBytes
  static table::SequenceNumber SequenceOf(std::string_view contents);
  static uint32_t CountOf(std::string_view contents);

  // Adds every change to `memtable`, from the sequence number in the batch. The bytes may come from
  // a log: kCorruption where they are no batch; the memtable then has the changes before the fault.
  static Status InsertInto(std::string_view contents, lsm::MemTable* memtable);
  static Status InsertInto(const WriteBatch& batch, lsm::MemTable* memtable) {
    return InsertInto(batch.rep_, memtable);
  }

  // kCorruption where the bytes are no batch.
  static Status Check(std::string_view contents);
  // WriteBatch::Iterate of any bytes.
  static Status Iterate(std::string_view contents, WriteBatch::Handler* handler);
};

}  // namespace weft
