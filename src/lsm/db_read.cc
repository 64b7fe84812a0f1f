// Reads: single lookups, groups of lookups, iterators and snapshots. None takes the store's mutex
// but to make and release snapshots and to note a table that lookups pass through in vain.
#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <utility>

#include "lsm/db_impl.h"
#include "lsm/db_iterator.h"
#include "lsm/lookup_key.h"
#include "table/merging_iterator.h"

namespace weft::lsm {

namespace {

// Lookups of one MultiGet that are under way together: enough to hide the waits, and few enough
// that what was fetched is still in the nearest cache when it is used.
constexpr size_t kGroup = 32;

}  // namespace

table::SequenceNumber DbImpl::SequenceOf(const ReadOptions& options) const {
  if (options.snapshot != nullptr) return options.snapshot->sequence();
  return visible_.load(std::memory_order_acquire);
}

Status DbImpl::Get(const ReadOptions& options, std::string_view key, std::string* value) {
  std::string nobodys;
  if (value == nullptr) value = &nobodys;
  const ReadViews::Pointer view = views_.Take();  // before the sequence: lsm/read_view.h
  const table::SequenceNumber sequence = SequenceOf(options);
  statistics_.Add(Statistics::kGets, 1);
  MemTable::Found found = view->active->Get(key, sequence, value);
  for (size_t i = 0; found == MemTable::Found::kNothing && i < view->immutable.size(); i++) {
    found = view->immutable[i]->Get(key, sequence, value);
  }
  Status status;
  if (found == MemTable::Found::kNothing) {
    const LookupKey lookup(key, sequence);
    SeekCharge charge;
    status = view->version->Get(options, lookup.internal_key(), value, &charge);
    if (charge.file != nullptr && charges_seeks_ && view->version->ChargeSeek(charge)) {
      WakeCompaction();
    }
  } else if (found == MemTable::Found::kDeletion) {
    status = Status::NotFound();
  }
  if (status.ok()) statistics_.Add(Statistics::kGetsFound, 1);
  return status;
}

void DbImpl::MultiGet(const ReadOptions& options, std::span<DbLookup> lookups) {
  const ReadViews::Pointer view = views_.Take();
  const table::SequenceNumber sequence = SequenceOf(options);
  ValueBudget budget(options.value_bytes_max);
  for (size_t begin = 0; begin < lookups.size(); begin += kGroup) {
    GetGroup(options, *view, sequence,
             lookups.subspan(begin, std::min(kGroup, lookups.size() - begin)), begin == 0, &budget);
  }
}

void DbImpl::GetGroup(const ReadOptions& options, const ReadView& view,
                      table::SequenceNumber sequence, std::span<DbLookup> lookups, bool is_first,
                      ValueBudget* budget) {
  std::vector<const MemTable*> memtables{view.active.get()};
  for (const auto& each : view.immutable) memtables.push_back(each.get());
  std::vector<size_t> open(lookups.size());
  std::iota(open.begin(), open.end(), size_t{0});
  std::array<MemTableTree::Way, kGroup> ways;  // by lookup
  std::array<const char*, kGroup> entries;
  for (const MemTable* memtable : memtables) {
    for (const size_t i : open) ways[i] = memtable->Approach(lookups[i].key, sequence);
    for (const size_t i : open) {
      entries[i] = memtable->Locate(lookups[i].key, sequence, &ways[i]);
      if (entries[i] != nullptr) MemTable::PrefetchEntry(entries[i]);
    }
    std::erase_if(open, [&](size_t i) {
      DbLookup& lookup = lookups[i];
      if (budget->used_up() && !(is_first && i == 0)) {
        lookup.status = ValueBudget::UsedUp();
        return true;
      }
      const MemTable::Found found = memtable->Read(entries[i], lookup.key, &lookup.value);
      if (found == MemTable::Found::kNothing) return false;
      lookup.status = found == MemTable::Found::kValue ? Status() : Status::NotFound();
      if (lookup.status.ok()) budget->Take(lookup.value.size());
      return true;
    });
  }
  std::deque<LookupKey> keys;  // they stay where they are
  std::vector<VersionLookup> rest;
  rest.reserve(open.size());
  for (const size_t i : open) {
    keys.emplace_back(lookups[i].key, sequence);
    rest.push_back({keys.back().internal_key(), &lookups[i].value, {}, {}, is_first && i == 0});
  }
  if (!rest.empty()) view.version->MultiGet(options, rest, budget);
  bool compact = false;
  for (size_t i = 0; i < open.size(); i++) {
    const SeekCharge& charge = rest[i].charge;
    compact |= charges_seeks_ && charge.file != nullptr && view.version->ChargeSeek(charge);
    lookups[open[i]].status = std::move(rest[i].status);
  }
  if (compact) WakeCompaction();
  statistics_.Add(Statistics::kGets, lookups.size());
  statistics_.Add(Statistics::kGetsFound,
                  static_cast<uint64_t>(std::ranges::count_if(
                      lookups, [](const DbLookup& each) { return each.status.ok(); })));
}

std::unique_ptr<Iterator> DbImpl::NewIterator(const ReadOptions& options) {
  const ReadViews::Pointer view = views_.Take();
  const table::SequenceNumber sequence = SequenceOf(options);
  statistics_.Add(Statistics::kIterators, 1);
  std::vector<std::unique_ptr<Iterator>> children;
  children.push_back(view->active->NewIterator());
  for (const auto& each : view->immutable) children.push_back(each->NewIterator());
  view->version->AddIterators(options, &children);
  DbIteratorOptions how;
  how.sequence = sequence;
  how.lower_bound = options.lower_bound;
  how.upper_bound = options.upper_bound;
  how.keep = view;
  if (charges_seeks_) {
    how.sample = [this, version = view->version.get()](std::string_view internal_key) {
      if (version->RecordReadSample(internal_key)) WakeCompaction();
    };
  }
  return NewDbIterator(comparator_, table::NewMergingIterator(&comparator_, std::move(children)),
                       std::move(how));
}

const Snapshot* DbImpl::GetSnapshot() {
  base::MutexLock lock(&mutex_);
  while (ingesting_) room_.Wait(&mutex_);  // what is ingested may have no number of its own
  return snapshots_.New(visible_.load(std::memory_order_acquire));
}

void DbImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  base::MutexLock lock(&mutex_);
  snapshots_.Delete(snapshot);
}

table::SequenceNumber DbImpl::OldestSnapshotLocked() const {
  return snapshots_.empty() ? visible_.load(std::memory_order_acquire) : snapshots_.oldest();
}

void DbImpl::WakeCompaction() {
  base::MutexLock lock(&mutex_);
  compact_work_.NotifyOne();
}

void DbImpl::InstallViewLocked() {
  auto view = std::make_shared<ReadView>();
  view->active = active_;
  for (const Immutable& each : immutables_)
    view->immutable.insert(view->immutable.begin(), each.table);
  view->version = versions_->current();
  views_.Install(view);
}

}  // namespace weft::lsm
