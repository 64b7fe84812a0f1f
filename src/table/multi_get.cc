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
    FindLeaves();
    SearchLeaves();
    AskFilters();
    LookAhead();
    SearchBlocks();
  }

 private:
  struct Slot {
    TableLookup* lookup;
    size_t leaf;  // of the index
    TableIndex::Entry entry;
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

  void FindLeaves() {
    for (Slot& slot : open()) slot.leaf = slot.lookup->table->index_.FindLeaf(slot.lookup->key);
  }

  // Towards filters and blocks; blocks of files that have been slow are asked of them once their
  // filters let them.
  void SearchLeaves() {
    Keep([](Slot& slot) {
      const Table& table = *slot.lookup->table;
      const size_t i = table.index_.LowerBoundIn(slot.leaf, slot.lookup->key);
      if (i == table.index_.size()) return false;
      slot.entry = table.index_.At(i);
      if (slot.entry.filter_bytes != TableIndex::kNoFilter && slot.entry.filter_bytes > 0) {
        const char* filter = table.filter_.data() + slot.entry.filter_at;
        __builtin_prefetch(filter);
        __builtin_prefetch(filter + slot.entry.filter_bytes - 1);
      }
      if (!table.pace_.slow()) table.PrefetchBlock(slot.entry.handle());
      return true;
    });
  }

  void AskFilters() {
    Keep([](Slot& slot) {
      const Table& table = *slot.lookup->table;
      if (!table.MayMatch(slot.entry, slot.lookup->key)) {
        slot.lookup->found = TableLookup::Found::kFiltered;
        return false;
      }
      if (table.pace_.slow()) {
        table.file_->WillNeed(slot.entry.offset, slot.entry.bytes + kBlockTrailerBytes);
      }
      return true;
    });
  }

  // Towards the entries that the search in each block will walk through.
  void LookAhead() {
    for (Slot& slot : open()) {
      const Table& table = *slot.lookup->table;
      if (table.pace_.slow()) continue;
      const char* block = BlockInPlace(table.blocks_, slot.entry.handle());
      if (block == nullptr) continue;
      BlockIterator it(table.order_, {block, slot.entry.bytes});
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
        table.SearchDataBlock(options_, slots_[i].entry.handle(), lookup);
        continue;
      }
      const uint64_t start_ns = base::NowNs();
      table.SearchDataBlock(options_, slots_[i].entry.handle(), lookup);
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
