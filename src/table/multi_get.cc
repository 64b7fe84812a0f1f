// Lookups in groups, a stage at a time, so that the waits of each stage overlap: every stage
// fetches towards what the next one will touch, for all lookups, before any of them needs it.
#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "table/block.h"
#include "table/table.h"

namespace weft::table {

// The stages of Table::Probe.
class MultiProbe {
 public:
  // Enough to hide the waits, few enough that what was fetched is still near when it is used.
  static constexpr size_t kProbesMax = 64;

  // REQUIRES: probes.size() <= kProbesMax
  explicit MultiProbe(std::span<TableProbe> probes) : probes_(probes) {}

  void Run() {
    FindLeaves();
    SearchLeaves();
    AskFilters();
  }

 private:
  using Where = TableProbe::Where;

  void FindLeaves() {
    for (size_t i = 0; i < probes_.size(); ++i) {
      leaves_[i] = probes_[i].table->index_.FindLeaf(probes_[i].key);
    }
  }

  // Towards the filters.
  void SearchLeaves() {
    for (size_t i = 0; i < probes_.size(); ++i) {
      TableProbe& probe = probes_[i];
      const Table& table = *probe.table;
      const size_t at = table.index_.LowerBoundIn(leaves_[i], probe.key);
      probe.where = at == table.index_.size() ? Where::kNowhere : Where::kBlock;
      if (probe.where == Where::kNowhere) continue;
      const TableIndex::Entry& entry = table.index_.At(at);
      entries_[i] = &entry;
      probe.handle = entry.handle();
      if (entry.filter_bytes == TableIndex::kNoFilter || entry.filter_bytes == 0) continue;
      const char* filter = table.filter_.data() + entry.filter_at;
      __builtin_prefetch(filter);
      __builtin_prefetch(filter + entry.filter_bytes - 1);
    }
  }

  void AskFilters() {
    for (size_t i = 0; i < probes_.size(); ++i) {
      TableProbe& probe = probes_[i];
      if (probe.where != Where::kBlock) continue;
      if (!probe.table->MayMatch(*entries_[i], probe.key)) probe.where = Where::kFiltered;
    }
  }

  const std::span<TableProbe> probes_;
  std::array<size_t, kProbesMax> leaves_;
  std::array<const TableIndex::Entry*, kProbesMax> entries_;
};

// The stages of Table::Search.
class MultiSearch {
 public:
  static constexpr size_t kSearchesMax = 32;

  // Towards both ends of the blocks; those of files that have been slow are asked of them.
  static void FetchBlocks(std::span<const TableSearch> searches) {
    for (const TableSearch& search : searches) {
      const Table& table = *search.lookup->table;
      if (table.pace_.slow()) {
        table.file_->WillNeed(search.handle.offset, search.handle.bytes + kBlockTrailerBytes);
      } else {
        table.PrefetchBlock(search.handle);
      }
    }
  }

  // Towards the entries that the search in each block will walk through.
  static void LookAhead(std::span<const TableSearch> searches) {
    for (const TableSearch& search : searches) {
      const Table& table = *search.lookup->table;
      if (table.pace_.slow()) continue;
      const char* block = BlockInPlace(table.blocks_, search.handle);
      if (block == nullptr) continue;
      BlockIterator it(table.order_, {block, search.handle.bytes});
      it.PrefetchWalk();
    }
  }

  // Towards the values. Times one of them, another one each time.
  static void SearchBlocks(const ReadOptions& options, std::span<const TableSearch> searches) {
    thread_local size_t turn = 0;
    const size_t timed = turn++ % searches.size();
    for (size_t i = 0; i < searches.size(); ++i) {
      TableLookup* lookup = searches[i].lookup;
      const Table& table = *lookup->table;
      const uint64_t start_ns = i == timed ? base::NowNs() : 0;
      table.SearchDataBlock(options, searches[i].handle, lookup);
      if (i == timed) table.pace_.Note(base::NowNs() - start_ns);
      for (size_t at = kLineBytes; at < std::min(lookup->value.size(), kValueBytesAhead);
           at += kLineBytes) {
        __builtin_prefetch(lookup->value.data() + at);
      }
    }
  }

 private:
  static constexpr size_t kLineBytes = 64;
  // What is behind comes by itself.
  static constexpr size_t kValueBytesAhead = 512;
};

void Table::Probe(std::span<TableProbe> probes) {
  while (!probes.empty()) {
    const auto group = probes.first(std::min(probes.size(), MultiProbe::kProbesMax));
    MultiProbe(group).Run();
    probes = probes.subspan(group.size());
  }
}

void Table::Search(const ReadOptions& options, std::span<const TableSearch> searches) {
  while (!searches.empty()) {
    const auto group = searches.first(std::min(searches.size(), MultiSearch::kSearchesMax));
    for (const TableSearch& search : group) search.lookup->Begin();
    MultiSearch::FetchBlocks(group);
    MultiSearch::LookAhead(group);
    MultiSearch::SearchBlocks(options, group);
    searches = searches.subspan(group.size());
  }
}

void Table::MultiGet(const ReadOptions& options, std::span<TableLookup* const> lookups) {
  std::array<TableProbe, MultiSearch::kSearchesMax> probes;
  std::array<TableSearch, MultiSearch::kSearchesMax> searches;
  while (!lookups.empty()) {
    const auto group = lookups.first(std::min(lookups.size(), probes.size()));
    for (size_t i = 0; i < group.size(); ++i) {
      probes[i].table = group[i]->table;
      probes[i].key = group[i]->key;
    }
    Probe({probes.data(), group.size()});
    size_t searched = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      if (probes[i].where == TableProbe::Where::kBlock) {
        searches[searched++] = {group[i], probes[i].handle};
        continue;
      }
      group[i]->Begin();
      if (probes[i].where == TableProbe::Where::kFiltered) {
        group[i]->found = TableLookup::Found::kFiltered;
      }
    }
    Search(options, {searches.data(), searched});
    lookups = lookups.subspan(group.size());
  }
}

}  // namespace weft::table
