#include <algorithm>
#include <utility>

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

// Follows one lookup from table to table, and finds the table that it is to be charged to.
class SeekWatch {
 public:
  // The table was searched; one that its filter spared the search is none.
  void Searched(const FileMeta* file, int level, SeekCharge* charge) {
    if (last_.file != nullptr && charge != nullptr && charge->file == nullptr) *charge = last_;
    last_ = {file, level};
  }

 private:
  SeekCharge last_;
};

}  // namespace

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
      case TableLookup::Found::kError: status = lookup.status; return false;
    }
    return false;
  });
  return status;
}

// The lookups of one MultiGet on their way through the levels.
class Version::Lookups {
 public:
  Lookups(const Version& version, const ReadOptions& options, std::span<VersionLookup> lookups)
      : version_(version), options_(options), all_(lookups.size()) {
    pending_.reserve(lookups.size());
    for (size_t i = 0; i < lookups.size(); ++i) {
      all_[i].lookup = &lookups[i];
      all_[i].in_table.key = lookups[i].internal_key;
      lookups[i].status = Status::NotFound();
      pending_.push_back(&all_[i]);
    }
  }

  bool done() const { return pending_.empty(); }

  void SearchFile(const FileMeta& file) {
    for (One* one : pending_) {
      if (version_.Encloses(file, UserKey(one->in_table.key))) Add(one, &file, 0);
    }
    Search();
  }

  void SearchLevel(int level) {
    for (One* one : pending_) {
      const FileMeta* file = version_.FileFor(level, one->in_table.key);
      if (file != nullptr) Add(one, file, level);
    }
    Search();
  }

 private:
  struct One {
    VersionLookup* lookup = nullptr;
    TableLookup in_table;
    // Where it is sought now.
    const FileMeta* file = nullptr;
    int level = 0;
    OpenTable open;
    SeekWatch watch;
    bool done = false;
  };

  void Add(One* one, const FileMeta* file, int level) {
    Status status = version_.tables_->Find(*file, &one->open);
    if (!status.ok()) {
      one->lookup->status = std::move(status);
      one->done = true;
      return;
    }
    one->file = file;
    one->level = level;
    one->in_table.table = one->open.table;
    batch_.push_back(one);
    in_tables_.push_back(&one->in_table);
  }

  void Search() {
    table::Table::MultiGet(options_, in_tables_);
    for (One* one : batch_) Take(one);
    batch_.clear();
    in_tables_.clear();
    std::erase_if(pending_, [](const One* one) { return one->done; });
  }

  static void Take(One* one) {
    if (one->in_table.found == TableLookup::Found::kFiltered) return;
    VersionLookup* lookup = one->lookup;
    one->watch.Searched(one->file, one->level, &lookup->charge);
    one->done = one->in_table.found != TableLookup::Found::kNothing;
    switch (one->in_table.found) {
      case TableLookup::Found::kFiltered:
      case TableLookup::Found::kNothing:
      case TableLookup::Found::kDeletion: break;
      case TableLookup::Found::kValue:
        lookup->value->assign(one->in_table.value);
        lookup->status = {};
        break;
      case TableLookup::Found::kError: lookup->status = one->in_table.status; break;
    }
  }

  const Version& version_;
  const ReadOptions& options_;
  std::vector<One> all_;
  std::vector<One*> pending_;
  // Of the search that is being made up.
  std::vector<One*> batch_;
  std::vector<TableLookup*> in_tables_;
};

void Version::MultiGet(const ReadOptions& options, std::span<VersionLookup> lookups) const {
  Lookups all(*this, options, lookups);
  for (const FileRef& file : level(0).files()) {
    if (all.done()) return;
    all.SearchFile(*file);
  }
  for (int level = 1; level < kLevels && !all.done(); ++level) {
    if (!this->level(level).empty()) all.SearchLevel(level);
  }
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
