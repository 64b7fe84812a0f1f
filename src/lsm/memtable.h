// lsm/memtable.h: the writes that are in no table yet, in order.
//
// Threads   Add, Get and iterators: any at once, without a lock of the caller's. Entries become
//           visible to a reader whose sequence covers them once Add has returned; the store raises
//           the sequence that readers use only then.
// Memory    grows until the memtable goes; nothing in it moves or is freed before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lsm/arena.h"
#include "lsm/memtable_tree.h"
#include "table/internal_key.h"
#include "weft/iterator.h"

namespace weft::lsm {

class MemTable {
 public:
  enum class Found : uint8_t { kNothing, kValue, kDeletion };

  // The comparator's user comparator must outlive the memtable.
  // `blocks`, if not null: where its memory comes from and goes to.
  explicit MemTable(const table::InternalComparator& comparator,
                    std::shared_ptr<BlockPool> blocks = nullptr);
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Adds one change. REQUIRES: no entry has this user key and sequence; both sizes below 4 GiB.
  void Add(table::SequenceNumber sequence, table::ValueType type, std::string_view user_key,
           std::string_view value);
  // The newest entry of `user_key` that is not newer than `sequence`. `value` may be null.
  Found Get(std::string_view user_key, table::SequenceNumber sequence, std::string* value) const;

  // Get in steps, so that those of several lookups can overlap: fetch towards what Locate touches,
  // locate, fetch towards what Read touches, read.
  MemTableTree::Way Approach(std::string_view user_key, table::SequenceNumber sequence) const;
  // Where the entry stands if there is one; null: there is none. What stands there may yet be
  // another key's.
  const char* Locate(std::string_view user_key, table::SequenceNumber sequence,
                     const MemTableTree::Way* way = nullptr) const;
  static void PrefetchEntry(const char* at);
  // The end of Get. REQUIRES: `at` is what Locate gave for `user_key`
  Found Read(const char* at, std::string_view user_key, std::string* value) const;

  // Over internal keys. The memtable must outlive it.
  std::unique_ptr<Iterator> NewIterator() const;

  // Bytes taken from the system, about.
  size_t MemoryUsage() const { return arena_.MemoryUsage(); }
  // Relaxed: a count that guards nothing.
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }

 private:
  class EntryIterator;
  // Of an entry: what is behind comes by itself.
  static constexpr size_t kEntryLinesAhead = 4;

  const table::InternalComparator comparator_;
  Arena arena_;  // before tree_, which takes its nodes from it
  MemTableTree tree_;
  std::atomic<uint64_t> entries_{0};
};

}  // namespace weft::lsm
