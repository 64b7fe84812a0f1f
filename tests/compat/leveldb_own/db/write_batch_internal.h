// tests/compat/leveldb_own/db/write_batch_internal.h: the inside of a batch as LevelDB's tests ask
// for it, by way of the batch's public interface.
//
// Sequence  a batch does not show its number: it is kept here, by the address of the batch, and is
//           0 if none was set. Clearing the batch leaves it.
// Damage    a batch cannot be made of damaged bytes: SetContents takes the changes before the
//           damage.
// Threads   one.
#pragma once

#include <cstdint>

#include "leveldb/slice.h"
#include "leveldb/status.h"
#include "leveldb/write_batch.h"

namespace leveldb {

class MemTable;

class WriteBatchInternal {
 public:
  static int Count(const WriteBatch* batch);
  static std::uint64_t Sequence(const WriteBatch* batch);
  static void SetSequence(WriteBatch* batch, std::uint64_t sequence);
  // The batch's bytes, as in a log. They are valid until the next call.
  static Slice Contents(const WriteBatch* batch);
  static void SetContents(WriteBatch* batch, const Slice& contents);
  static Status InsertInto(const WriteBatch* batch, MemTable* table);
};

}  // namespace leveldb
