#include <algorithm>
#include <utility>

#include "lsm/own_files.h"
#include "lsm/version.h"
#include "table/run_iterator.h"
#include "table/table.h"

namespace weft::lsm {
namespace {

using table::TableLookup;
using table::UserKey;

// Some tables of one level of a version, which stays as long as this does.
class FilesRun final : public table::TableRun {
 public:
  FilesRun(VersionRef version, std::span<const FileRef> files)
      : version_(std::move(version)), files_(files) {}
  size_t size() const override { return files_.size(); }
  std::string_view LargestKey(size_t i) const override { return files_[i]->largest; }
  Result<std::shared_ptr<const table::Table>> Open(size_t i) override {
    return version_->tables()->FindShared(*files_[i]);
  }

 private:
  const VersionRef version_;
  const std::span<const FileRef> files_;
};

}  // namespace

// Follows one lookup from table to table, and finds the table that it is to be charged to.
class Version::SeekWatch {
 public:
  // The table was searched; one that its filter spared the search is none.
  void Searched(const FileMeta* file, int level, SeekCharge* charge) {
    if (last_.file != nullptr && charge != nullptr && charge->file == nullptr) *charge = last_;
    last_ = {file, level};
  }

 private:
  SeekCharge last_;
};

bool Version::Encloses(const FileMeta& file, std::string_view user_key) const {
  return comparator_->CompareUser(user_key, UserKey(file.smallest)) >= 0 &&
         comparator_->CompareUser(user_key, UserKey(file.largest)) <= 0;
}

const FileMeta* Version::FileFor(int level, std::string_view internal_key) const {
  const Level& files = this->level(level);
  if (files.empty()) return nullptr;
  const size_t i = files.Find(*comparator_, internal_key);
  if (i == files.size()) return nullptr;
  const FileMeta* file = files.files()[i].get();
  const bool before = comparator_->CompareUser(UserKey(internal_key), UserKey(file->smallest)) < 0;
  return before ? nullptr : file;
}

template <typename Visit>
void Version::ForEachEnclosing(std::string_view internal_key, Visit&& visit) const {
  const std::string_view user_key = UserKey(internal_key);
  for (const FileRef& file : level(0).files()) {
    if (Encloses(*file, user_key) && !visit(0, file.get())) return;
  }
  for (int level = 1; level < kLevels; ++level) {
    const FileMeta* file = FileFor(level, internal_key);
    if (file != nullptr && !visit(level, file)) return;
  }
}

Status Version::Get(const ReadOptions& options, std::string_view internal_key, std::string* value,
                    SeekCharge* charge) const {
  Status status = Status::NotFound();
  SeekWatch watch;
  TableLookup lookup;
  lookup.key = internal_key;
  ForEachEnclosing(internal_key, [&](int level, const FileMeta* file) {
    OpenTable open;
    if (Status found = tables_->Find(*file, &open); !found.ok()) {
      status = std::move(found);
      return false;
    }
    open.table->Get(options, &lookup);
    if (lookup.found == TableLookup::Found::kFiltered) return true;
    watch.Searched(file, level, charge);
    switch (lookup.found) {
      case TableLookup::Found::kFiltered:
      case TableLookup::Found::kNothing: return true;
      case TableLookup::Found::kDeletion: return false;
      case TableLookup::Found::kValue:
        // Copied here, while the table is surely open.
        value->assign(lookup.value);
        status = {};
        return false;
      case TableLookup::Found::kError: status = OwnFileError(lookup.status); return false;
    }
    return false;
  });
  return status;
}

// The lookups of one MultiGet. The filters of all tables that may hold a key are asked before any
// block is touched, so that the waits for one level's filters do not follow those for another's
// blocks; then each key's blocks are searched, the newest first.
class Version::Lookups {
 public:
  Lookups(const Version& version, const ReadOptions& options, std::span<VersionLookup> lookups,
          ValueBudget* budget)
      : version_(version), options_(options), budget_(budget), all_(lookups.size()) {
    for (size_t i = 0; i < lookups.size(); ++i) {
      all_[i].lookup = &lookups[i];
      all_[i].in_table.key = lookups[i].internal_key;
      lookups[i].status = Status::NotFound();
    }
    candidates_.reserve(lookups.size() * kTablesGuessed);
    probes_.reserve(lookups.size() * kTablesGuessed);
    searches_.reserve(lookups.size());
    searching_.reserve(lookups.size());
  }

  void Run() {
    FindTables();
    table::Table::Probe(probes_);
    while (SearchNext()) {
    }
  }

 private:
  static constexpr size_t kTablesGuessed = 6;  // that may hold a key, by their ends
  static constexpr uint32_t kNone = UINT32_MAX;
  // Stored bytes that are searched together where memory is bounded: what is found in compressed
  // blocks stays in memory until it is copied.
  static constexpr uint64_t kSearchedBytesMax = 256u << 10;

  // A table that may hold a lookup's key; probes_ has its probe at the same place.
  struct Candidate {
    const FileMeta* file;
    int level;
    uint32_t next;  // of the same lookup, older
    OpenTable open;
  };
  struct One {
    VersionLookup* lookup = nullptr;
    TableLookup in_table;
    SeekWatch watch;
    uint32_t next = kNone;  // the newest candidate that was not looked at
    uint32_t last = kNone;
    Status failure;  // of the table behind the last candidate, which could not be opened
    bool done = false;
  };

  // Table by table, so that each one's index is near for all keys.
  void FindTables() {
    for (const FileRef& file : version_.level(0).files()) {
      for (One& one : all_) {
        if (version_.Encloses(*file, UserKey(one.in_table.key))) Add(&one, file.get(), 0);
      }
    }
    for (int level = 1; level < kLevels; ++level) {
      if (version_.level(level).empty()) continue;
      for (One& one : all_) {
        const FileMeta* file = version_.FileFor(level, one.in_table.key);
        if (file != nullptr) Add(&one, file, level);
      }
    }
  }

  void Add(One* one, const FileMeta* file, int level) {
    if (!one->failure.ok()) return;  // what is older must not answer in its place
    Candidate candidate{.file = file, .level = level, .next = kNone, .open = {}};
    one->failure = version_.tables_->Find(*file, &candidate.open);
    if (!one->failure.ok()) return;
    const auto at = static_cast<uint32_t>(candidates_.size());
    (one->last == kNone ? one->next : candidates_[one->last].next) = at;
    one->last = at;
    probes_.push_back({.table = candidate.open.table, .key = one->in_table.key});
    candidates_.push_back(std::move(candidate));
  }

  // Searches the next block of every lookup that is not done. False: all are.
  bool SearchNext() {
    searches_.clear();
    searching_.clear();
    for (One& one : all_) {
      if (!one.done) AddSearch(&one);
    }
    if (searching_.empty()) return false;
    for (size_t begin = 0; begin < searches_.size();) {
      const size_t end = budget_->is_limited() ? EndOfPart(begin) : searches_.size();
      if (budget_->used_up() && !searching_[begin].first->lookup->must) {
        LeaveOut(searching_[begin++].first);
        continue;
      }
      table::Table::Search(options_, std::span(searches_).subspan(begin, end - begin));
      for (; begin < end; ++begin) {
        const auto& [one, candidate] = searching_[begin];
        Take(one, candidates_[candidate]);
      }
    }
    return true;
  }

  // The searches from `begin` on that are done together: at least one.
  size_t EndOfPart(size_t begin) const {
    size_t end = begin + 1;
    uint64_t bytes = searches_[begin].handle.bytes;
    while (end < searches_.size() && bytes + searches_[end].handle.bytes <= kSearchedBytesMax) {
      bytes += searches_[end++].handle.bytes;
    }
    return end;
  }

  // There was no room for its value.
  static void LeaveOut(One* one) {
    one->done = true;
    one->lookup->status = ValueBudget::UsedUp();
  }

  void AddSearch(One* one) {
    while (one->next != kNone) {
      const uint32_t at = one->next;
      one->next = candidates_[at].next;
      const table::TableProbe& probe = probes_[at];
      if (probe.where != table::TableProbe::Where::kBlock) continue;
      one->in_table.table = probe.table;
      searches_.push_back({&one->in_table, probe.handle});
      searching_.emplace_back(one, at);
      return;
    }
    one->done = true;
    if (!one->failure.ok()) one->lookup->status = std::move(one->failure);
  }

  void Take(One* one, const Candidate& candidate) {
    VersionLookup* lookup = one->lookup;
    one->watch.Searched(candidate.file, candidate.level, &lookup->charge);
    one->done = one->in_table.found != TableLookup::Found::kNothing;
    switch (one->in_table.found) {
      case TableLookup::Found::kFiltered:
      case TableLookup::Found::kNothing:
      case TableLookup::Found::kDeletion: break;
      case TableLookup::Found::kValue:
        if (budget_->used_up() && !lookup->must) {
          lookup->status = ValueBudget::UsedUp();
          break;
        }
        lookup->value->assign(one->in_table.value);
        lookup->status = {};
        budget_->Take(lookup->value->size());
        break;
      case TableLookup::Found::kError: lookup->status = OwnFileError(one->in_table.status); break;
    }
    if (one->done) one->in_table.pin.Reset();
  }

  const Version& version_;
  const ReadOptions& options_;
  ValueBudget* const budget_;
  std::vector<One> all_;
  std::vector<Candidate> candidates_;
  std::vector<table::TableProbe> probes_;
  // Of the search that is being made up.
  std::vector<table::TableSearch> searches_;
  std::vector<std::pair<One*, uint32_t>> searching_;  // with its candidate
};

void Version::MultiGet(const ReadOptions& options, std::span<VersionLookup> lookups,
                       ValueBudget* budget) const {
  Lookups(*this, options, lookups, budget).Run();
}

void Version::AddIterators(const ReadOptions& options,
                           std::vector<std::unique_ptr<Iterator>>* iterators) const {
  const auto add = [&](std::span<const FileRef> files) {
    iterators->push_back(table::NewRunIterator(
        comparator_, options, std::make_unique<FilesRun>(shared_from_this(), files)));
  };
  const std::span<const FileRef> level0 = level(0).files();
  for (size_t i = 0; i < level0.size(); ++i) add(level0.subspan(i, 1));
  for (int level = 1; level < kLevels; ++level) {
    if (!this->level(level).empty()) add(this->level(level).files());
  }
}

bool Version::ChargeSeek(const SeekCharge& charge) const {
  if (charge.file == nullptr) return false;
  if (charge.file->allowed_seeks.fetch_sub(1, std::memory_order_relaxed) > 1) return false;
  // One table a version is enough: another's next charge asks again.
  int none = -1;
  if (!seek_level_.compare_exchange_strong(none, charge.level, std::memory_order_relaxed)) {
    return false;
  }
  // Pairs with seek_file().
  seek_file_.store(charge.file, std::memory_order_release);
  return true;
}

bool Version::RecordReadSample(std::string_view internal_key) const {
  SeekCharge first;
  int tables = 0;
  ForEachEnclosing(internal_key, [&](int level, const FileMeta* file) {
    if (++tables == 1) first = {file, level};
    return tables < 2;
  });
  return tables == 2 && ChargeSeek(first);
}

SeekCharge Version::seek_file() const {
  const FileMeta* file = seek_file_.load(std::memory_order_acquire);
  if (file == nullptr) return {};
  return {file, seek_level_.load(std::memory_order_relaxed)};
}

}  // namespace weft::lsm
