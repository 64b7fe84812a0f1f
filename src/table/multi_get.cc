// Table::MultiGet: lookups in groups, a stage at a time, so that the waits of each stage overlap.
#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "table/block.h"
#include "table/table.h"

namespace weft::table {

// One group: every stage fetches towards what the next one will touch, for all lookups, before any
// of them needs it.
class MultiLookup {
 public:
  static constexpr size_t kLookupsMax = 32;

  // REQUIRES: lookups.size() <= kLookupsMax
  MultiLookup(const ReadOptions& options, std::span<TableLookup* const> lookups)
      : options_(options) {
    for (TableLookup* lookup : lookups) slots_[count_++].lookup = lookup;
  }

  void Run() {
    SearchIndex();
    ReadHandles();
    FindFilters();
    AskFilters();
    AskFiles();
    LookAhead();
    SearchBlocks();
  }

 private:
  struct Slot {
    TableLookup* lookup;
    size_t entry;  // of the index
    BlockHandle handle;
    const char* in_place;  // the block, or null
    std::string_view filter;
    bool has_filter;
  };

  std::span<Slot> open() { return {slots_.data(), count_}; }
  // Leaves the slots for which `stays` says so, in order.
  template <typename Stays>
  void Keep(const Stays& stays) {
    size_t kept = 0;
    for (size_t i = 0; i < count_; ++i) {
      if (!stays(slots_[i])) continue;
      if (kept != i) slots_[kept] = slots_[i];
      ++kept;
    }
    count_ = kept;
  }

  void SearchIndex() {
    Keep([](Slot& slot) {
      const TableIndex& index = slot.lookup->table->index_;
      slot.entry = index.LowerBound(slot.lookup->key);
      if (slot.entry == index.size()) return false;
      index.PrefetchEntry(slot.entry);
      return true;
    });
  }

  void ReadHandles() {
    for (Slot& slot : open()) {
      const Table& table = *slot.lookup->table;
      slot.handle = table.index_.HandleAt(slot.entry);
      slot.has_filter = !table.filter_.empty();
      if (slot.has_filter) {
        table.filter_.PrefetchOffset(slot.handle.offset);
      }
    }
  }

  void FindFilters() {
    for (Slot& slot : open()) {
      if (!slot.has_filter) continue;
      slot.has_filter = slot.lookup->table->filter_.FilterOf(slot.handle.offset, &slot.filter);
      if (slot.has_filter && !slot.filter.empty()) {
        __builtin_prefetch(slot.filter.data());
        __builtin_prefetch(slot.filter.data() + slot.filter.size() - 1);
      }
    }
  }

  void AskFilters() {
    Keep([](Slot& slot) {
      const Table& table = *slot.lookup->table;
      if (slot.has_filter && !table.filter_.Matches(slot.filter, slot.lookup->key)) {
        slot.lookup->found = TableLookup::Found::kFiltered;
        return false;
      }
      return true;
    });
  }

  // Starts the reads of blocks whose tables have been slow to come, and fetches towards both ends
  // of those in memory: the first entry and the restart points.
  void AskFiles() {
    for (Slot& slot : open()) {
      const Table& table = *slot.lookup->table;
      const size_t stored = slot.handle.bytes + kBlockTrailerBytes;
      if (table.pace_.slow()) table.file_->WillNeed(slot.handle.offset, stored);
      slot.in_place = nullptr;
      if (table.blocks_.mapped.empty()) continue;
      const char* block = table.blocks_.mapped.data() + slot.handle.offset;
      __builtin_prefetch(block);
      __builtin_prefetch(block + slot.handle.bytes - 1);
      slot.in_place = block;
    }
  }

  // Towards the entries that the search in each block will walk through.
  void LookAhead() {
    for (Slot& slot : open()) {
      const Table& table = *slot.lookup->table;
      if (slot.in_place == nullptr || table.pace_.slow()) continue;
      const char* block = BlockInPlace(table.blocks_, slot.handle);
      if (block == nullptr) continue;
      BlockIterator it(table.order_, {block, slot.handle.bytes});
      it.PrefetchWalk();
    }
  }

  // Times one of them, another one each time.
  void SearchBlocks() {
    if (count_ == 0) return;
    thread_local size_t turn = 0;
    const size_t timed = turn++ % count_;
    for (size_t i = 0; i < count_; ++i) {
      TableLookup* lookup = slots_[i].lookup;
      const Table& table = *lookup->table;
      if (i != timed) {
        table.SearchBlock(options_, slots_[i].handle, lookup);
        continue;
      }
      const uint64_t start_ns = base::NowNs();
      table.SearchBlock(options_, slots_[i].handle, lookup);
      table.pace_.Note(base::NowNs() - start_ns);
    }
  }

  const ReadOptions& options_;
  size_t count_ = 0;
  std::array<Slot, kLookupsMax> slots_;
};

void Table::MultiGet(const ReadOptions& options, std::span<TableLookup* const> lookups) {
  while (!lookups.empty()) {
    const size_t taken = std::min(lookups.size(), MultiLookup::kLookupsMax);
    const auto group = lookups.first(taken);
    for (TableLookup* lookup : group) lookup->Begin();
    MultiLookup(options, group).Run();
    lookups = lookups.subspan(taken);
  }
}

}  // namespace weft::table
