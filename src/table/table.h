// table/table.h: reads a finished table: lookups one by one or in groups, iterators, checks.
//
//   auto table = Table::Open({.order = &comparator}, std::move(file), bytes, path);
//   TableLookup lookup{.table = table->get(), .key = internal_key};
//   (*table)->Get({}, &lookup);
//   if (lookup.found == TableLookup::Found::kValue) use(lookup.value);
//
// Layout    table/format.h.
// Threads   every const call may be made from any thread at once. Each lookup or iterator belongs
//           to one thread at a time; the table must outlive them.
// Memory    index and filter stay as long as the table, in the mapped file if they can (and
//           `copies` is not asked for). Besides them, about 34 bytes a data block speed up the
//           index. Data blocks are used in place in a mapped file; otherwise they come through the
//           cache.
// Errors    kCorruption names the file and the block's offset. The checksums of index and filter
//           are always checked when the table is opened, those of data blocks on request. A damaged
//           filter is not used; Open fails for it only with `verify`.
// Source    LevelDB's table format.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "table/block_reader.h"
#include "table/filter_block_reader.h"
#include "table/format.h"
#include "table/key_order.h"
#include "table/read_counters.h"
#include "table/table_index.h"
#include "weft/block_cache.h"
#include "weft/db_options.h"
#include "weft/file_system.h"
#include "weft/filter_policy.h"
#include "weft/iterator.h"
#include "weft/status.h"

namespace weft::table {

class Table;
class TableIterator;

struct TableReadOptions {
  // Give an InternalComparator as that type: lookups are several times faster for it.
  KeyOrder order = BytewiseComparator();
  // For keys as in the table: InternalFilterPolicy for a store's. Null: filters are not used.
  const FilterPolicy* filter = nullptr;
  // Null: blocks that cannot be used in place are read anew each time.
  BlockCache* cache = nullptr;
  // Open fails if the filter is damaged, too.
  bool verify = false;
  // Index and filter are copied out of a mapped file once they are checked.
  bool copies = false;
  // Null: nothing is counted. Must outlive the table.
  ReadCounters* counters = nullptr;
};

// One key's answer. For tables of internal keys: the newest entry of the key's user key that is not
// newer than the key's sequence. For others: the entry of that very key.
struct TableLookup {
  enum class Found : uint8_t {
    kNothing,   // the table was searched: no such entry
    kFiltered,  // the filter says that there is no such entry; no data block was touched
    kValue,
    kDeletion,
    kError,  // see status
  };

  const Table* table = nullptr;
  std::string_view key = {};

  Found found = Found::kNothing;
  std::string_view value = {};  // until the lookup or its table goes, or the next Get with it
  uint64_t sequence = 0;        // of the entry found
  Status status = {};
  BlockPin pin = {};

  // Forgets the answer; Get and MultiGet do it themselves.
  void Begin() {
    found = Found::kNothing;
    value = {};
    sequence = 0;
    if (!status.ok()) status = {};
    pin.Reset();
  }
};

// A lookup's first half: the block of the table that may hold the key.
struct TableProbe {
  enum class Where : uint8_t {
    kNowhere,   // behind the table's last block
    kFiltered,  // the filter of the block at `handle` says no
    kBlock,     // at `handle`, if anywhere
  };

  const Table* table = nullptr;
  std::string_view key = {};

  // The result of Table::Probe.
  Where where = Where::kNowhere;
  BlockHandle handle = {};
};

// Its second half: the block to search.
struct TableSearch {
  TableLookup* lookup = nullptr;
  BlockHandle handle = {};
};

// How long recent blocks took to arrive, by samples: tells memory from disk.
class FetchPace {
 public:
  void Note(uint64_t ns) {
    // Relaxed: an estimate; samples that meet may be lost.
    const uint64_t before = mean_ns_.load(std::memory_order_relaxed);
    const uint64_t mean = before - before / 4 + std::min(ns, kSampleNsMax) / 4;
    if (mean != before) mean_ns_.store(mean, std::memory_order_relaxed);
    if (mean > kSlowNs) {
      if (!slow()) slow_.store(true, std::memory_order_relaxed);
    } else if (mean < kFastNs) {
      if (slow()) slow_.store(false, std::memory_order_relaxed);
    }
  }
  bool slow() const { return slow_.load(std::memory_order_relaxed); }

 private:
  // Prefetching shortens the waits, so it turns off far below where it turns on.
  static constexpr uint64_t kSlowNs = 20'000;
  static constexpr uint64_t kFastNs = 2'000;
  static constexpr uint64_t kSampleNsMax = 1'000'000;

  std::atomic<uint64_t> mean_ns_{0};
  std::atomic<bool> slow_{false};
};

class Table {
 public:
  static Result<std::unique_ptr<Table>> Open(const TableReadOptions& options,
                                             std::unique_ptr<RandomAccessFile> file, uint64_t bytes,
                                             std::string path);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Answers *lookup; ignores its `table`.
  void Get(const ReadOptions& options, TableLookup* lookup) const;
  // Answers all, each in its own table (they may differ, and each may occur in many lookups);
  // their waits for memory and for files overlap. Best with 8 and more.
  static void MultiGet(const ReadOptions& options, std::span<TableLookup* const> lookups);
  // The two halves of MultiGet, for keys that may be in several tables: probe them all, search
  // those that may hold one.
  static void Probe(std::span<TableProbe> probes);
  static void Search(const ReadOptions& options, std::span<const TableSearch> searches);

  // Over all entries; the caller applies the options' bounds and snapshot.
  std::unique_ptr<TableIterator> NewIterator(const ReadOptions& options) const;

  // Roughly where in the file the data of `key` begins; for keys past the last, the data's end.
  uint64_t ApproximateOffsetOf(std::string_view key) const;

  // Data blocks in order. The separator is not below any key of the block and below all keys of
  // the next.
  uint64_t data_blocks() const;
  struct DataBlock {
    BlockHandle handle;
    std::string_view separator;  // lives as long as the table
  };
  // Calls `visit` for each, in order, until it returns false. Reads no data block.
  void ForEachDataBlock(const std::function<bool(const DataBlock&)>& visit) const;
  // Reads the whole table: checksums of all blocks, keys strictly ascending, and each block's keys
  // between its separator and the one before. `entries` (may be null) gets their number; `progress`
  // (may be null) is called with the bytes done.
  Status Verify(uint64_t* entries,
                const std::function<void(uint64_t bytes_done)>& progress = nullptr) const;

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return blocks_.bytes; }
  const KeyOrder& order() const { return order_; }
  bool has_filter() const { return !filter_.empty(); }
  // Why an existing filter is not used; ok if nothing is wrong.
  const Status& filter_status() const { return filter_status_; }
  // Bytes that the table takes besides its file.
  size_t MemoryUsage() const;

 private:
  friend class TableIterator;
  friend class MultiProbe;
  friend class MultiSearch;

  Table(const TableReadOptions& options, std::unique_ptr<RandomAccessFile> file, uint64_t bytes,
        std::string path);
  Status ReadIndex();
  Status ReadFilter(const BlockHandle& metaindex);
  Result<BlockContents> ReadKept(const BlockHandle& handle) const;

  // A data block's bytes, and their owner.
  struct PinnedBlock {
    std::string_view data;
    BlockPin pin;
  };
  Result<PinnedBlock> DataBlockAt(const ReadOptions& options, const BlockHandle& handle) const;
  Result<PinnedBlock> ReadDataBlock(const ReadOptions& options, const BlockHandle& handle) const;
  bool MayMatch(const TableIndex::Entry& entry, std::string_view key) const {
    if (entry.filter_bytes == TableIndex::kNoFilter) return true;
    const bool may = filter_.Matches({filter_.data() + entry.filter_at, entry.filter_bytes}, key);
    Count(ReadCounters::kFiltersAsked);
    if (!may) Count(ReadCounters::kFiltersUseful);
    return may;
  }
  void Count(ReadCounters::Counter counter) const {
    if (counters_ != nullptr) counters_->Add(counter, 1);
  }
  // Fetches both ends of a block in memory: its first entry and its restart points.
  void PrefetchBlock(const BlockHandle& handle) const {
    if (blocks_.mapped.empty()) return;
    const char* block = blocks_.mapped.data() + handle.offset;
    __builtin_prefetch(block);
    __builtin_prefetch(block + handle.bytes - 1);
  }
  void SearchDataBlock(const ReadOptions& options, const BlockHandle& handle,
                       TableLookup* lookup) const;
  // `handle` is for messages.
  void SearchBytes(std::string_view block, const BlockHandle& handle, TableLookup* lookup) const;

  // Constant after Open.
  const KeyOrder order_;
  const FilterPolicy* const filter_policy_;
  BlockCache* const cache_;
  ReadCounters* const counters_;
  const bool copies_;
  const std::unique_ptr<RandomAccessFile> file_;
  const std::string path_;
  BlockFile blocks_;
  uint64_t cache_id_ = 0;
  Footer footer_;
  BlockContents index_contents_;
  TableIndex index_;
  BlockContents filter_contents_;
  FilterBlockReader filter_;
  Status filter_status_;

  mutable FetchPace pace_;  // of data blocks
};

}  // namespace weft::table
