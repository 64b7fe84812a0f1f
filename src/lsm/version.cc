#include "lsm/version.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "lsm/file_names.h"
#include "table/key_order.h"

namespace weft::lsm {
namespace {

using table::UserKey;

// The first eight bytes as a number that orders as they do; zeros stand behind shorter keys, so
// only "below" means anything, not "equal".
uint64_t PrefixOf(std::string_view user_key) {
  if (user_key.size() >= 8) return table::LoadBigEndian64(user_key.data());
  char bytes[8] = {};
  std::copy(user_key.begin(), user_key.end(), bytes);
  return table::LoadBigEndian64(bytes);
}

std::string Named(const FileMeta& file) { return "table " + std::to_string(file.number); }

Status CheckEnds(const table::InternalComparator& comparator, const FileMeta& file) {
  table::ParsedKey parsed;
  if (!table::ParseInternalKey(file.smallest, &parsed) ||
      !table::ParseInternalKey(file.largest, &parsed) ||
      comparator.Compare(file.smallest, file.largest) > 0) {
    return Status(Code::kCorruption, Named(file) + " ends before it begins");
  }
  return {};
}

// REQUIRES: `first` stands before `second` in the level
Status CheckOrder(const table::InternalComparator& comparator, int level, const FileMeta& first,
                  const FileMeta& second) {
  if (level == 0 ? first.number != second.number
                 : comparator.Compare(first.largest, second.smallest) < 0) {
    return {};
  }
  return Status(Code::kCorruption, Named(first) + " and " + Named(second) + " overlap in level " +
                                       std::to_string(level));
}

// Sorts files of which all but a few at the end are in order.
template <typename Less>
void SortTail(std::vector<FileRef>* files, const Less& less) {
  const auto tail = std::is_sorted_until(files->begin(), files->end(), less);
  std::sort(tail, files->end(), less);
  std::inplace_merge(files->begin(), tail, files->end(), less);
}

}  // namespace

uint64_t TotalBytes(std::span<const FileRef> files) {
  uint64_t sum = 0;
  for (const FileRef& file : files) sum += file->bytes;
  return sum;
}

Result<std::shared_ptr<const Level>> Level::Make(const table::InternalComparator& comparator,
                                                 int level, std::vector<FileRef> files) {
  for (const FileRef& file : files) {
    if (Status status = CheckEnds(comparator, *file); !status.ok()) return status;
  }
  if (level == 0) {
    SortTail(&files, [](const FileRef& a, const FileRef& b) { return a->number > b->number; });
  } else {
    SortTail(&files, [&](const FileRef& a, const FileRef& b) {
      return comparator.Compare(a->smallest, b->smallest) < 0;
    });
  }
  for (size_t i = 1; i < files.size(); ++i) {
    Status status = CheckOrder(comparator, level, *files[i - 1], *files[i]);
    if (!status.ok()) return status;
  }
  std::shared_ptr<Level> made(new Level);  // freed by the shared pointer
  made->bytes_ = TotalBytes(files);
  if (level > 0 && comparator.is_bytewise()) {
    made->prefixes_.reserve(files.size());
    for (const FileRef& file : files) made->prefixes_.push_back(PrefixOf(UserKey(file->largest)));
  }
  made->files_ = std::move(files);
  return std::shared_ptr<const Level>(std::move(made));
}

size_t Level::Find(const table::InternalComparator& comparator,
                   std::string_view internal_key) const {
  if (prefixes_.empty()) return FindBetween(comparator, 0, files_.size(), internal_key);
  const uint64_t prefix = PrefixOf(UserKey(internal_key));
  // Files before `low` are below the key by their prefixes alone.
  const auto low = std::lower_bound(prefixes_.begin(), prefixes_.end(), prefix);
  if (low == prefixes_.end() || *low != prefix) {
    return static_cast<size_t>(low - prefixes_.begin());
  }
  const auto high = std::upper_bound(low, prefixes_.end(), prefix);
  return FindBetween(comparator, static_cast<size_t>(low - prefixes_.begin()),
                     static_cast<size_t>(high - prefixes_.begin()), internal_key);
}

size_t Level::FindBetween(const table::InternalComparator& comparator, size_t low, size_t high,
                          std::string_view internal_key) const {
  const auto found = std::partition_point(
      files_.begin() + static_cast<std::ptrdiff_t>(low),
      files_.begin() + static_cast<std::ptrdiff_t>(high),
      [&](const FileRef& file) { return comparator.Compare(file->largest, internal_key) < 0; });
  return static_cast<size_t>(found - files_.begin());
}

std::shared_ptr<const Version> Version::MakeEmpty(const table::InternalComparator* comparator,
                                                  TableCache* tables) {
  std::shared_ptr<Version> version(new Version(comparator, tables));  // freed by the pointer
  for (int level = 0; level < kLevels; ++level) {
    version->levels_[static_cast<size_t>(level)] = Level::Make(*comparator, level, {}).value();
  }
  return version;
}

Result<std::shared_ptr<const Version>> Version::Apply(const VersionEdit& edit) const {
  std::array<std::vector<FileRef>, kLevels> added;
  std::array<std::set<uint64_t>, kLevels> removed;
  for (const auto& [level, number] : edit.removed_files) {
    removed[static_cast<size_t>(level)].insert(number);
  }
  for (const NewFile& file : edit.new_files) {
    added[static_cast<size_t>(file.level)].push_back(MetaFor(file, edit));
  }
  std::shared_ptr<Version> version(new Version(comparator_, tables_));  // freed by the pointer
  for (size_t level = 0; level < kLevels; ++level) {
    version->levels_[level] = levels_[level];
    if (added[level].empty() && removed[level].empty()) continue;
    std::vector<FileRef> files;
    files.reserve(levels_[level]->size() + added[level].size());
    for (const FileRef& file : levels_[level]->files()) {
      if (removed[level].erase(file->number) == 0) files.push_back(file);
    }
    files.insert(files.end(), added[level].begin(), added[level].end());
    if (!removed[level].empty()) {
      return Status(Code::kCorruption, "table " + std::to_string(*removed[level].begin()) +
                                           " cannot be removed from level " +
                                           std::to_string(level) + ", because it is not there");
    }
    auto made = Level::Make(*comparator_, static_cast<int>(level), std::move(files));
    if (!made) return made.error();
    version->levels_[level] = std::move(made.value());
  }
  return std::shared_ptr<const Version>(std::move(version));
}

FileRef Version::MetaFor(const NewFile& file, const VersionEdit& edit) const {
  for (const auto& [level, number] : edit.removed_files) {
    if (number != file.number) continue;
    for (const FileRef& old : this->level(level).files()) {
      if (old->number == number && old->bytes == file.bytes && old->smallest == file.smallest &&
          old->largest == file.largest) {
        return old;
      }
    }
  }
  return std::make_shared<const FileMeta>(file.number, file.bytes, file.smallest, file.largest);
}

int Version::DeepestLevel() const {
  int deepest = kLevels - 1;
  while (deepest > 0 && level(deepest).empty()) --deepest;
  return deepest;
}

uint64_t Version::TotalBytes() const {
  uint64_t sum = 0;
  for (const auto& level : levels_) sum += level->bytes();
  return sum;
}

size_t Version::TotalFiles() const {
  size_t sum = 0;
  for (const auto& level : levels_) sum += level->size();
  return sum;
}

bool Version::EndsBefore(const FileMeta& file, const UserKeyRange& range) const {
  return range.begin != nullptr &&
         comparator_->CompareUser(UserKey(file.largest), *range.begin) < 0;
}

bool Version::BeginsAfter(const FileMeta& file, const UserKeyRange& range) const {
  return range.end != nullptr && comparator_->CompareUser(UserKey(file.smallest), *range.end) > 0;
}

size_t Version::FirstInRange(int level, const UserKeyRange& range) const {
  if (range.begin == nullptr) return 0;
  const LookupKey first(*range.begin, table::kSequenceMax);
  return this->level(level).Find(*comparator_, first.internal_key());
}

bool Version::OverlapInLevel(int level, const UserKeyRange& range) const {
  const std::span<const FileRef> files = this->level(level).files();
  if (level > 0) {
    const size_t first = FirstInRange(level, range);
    return first < files.size() && !BeginsAfter(*files[first], range);
  }
  return std::any_of(files.begin(), files.end(), [&](const FileRef& file) {
    return !EndsBefore(*file, range) && !BeginsAfter(*file, range);
  });
}

std::vector<FileRef> Version::OverlappingInputs(int level, const UserKeyRange& range) const {
  const std::span<const FileRef> files = this->level(level).files();
  std::vector<FileRef> inputs;
  if (level > 0) {
    for (size_t i = FirstInRange(level, range); i < files.size(); ++i) {
      if (BeginsAfter(*files[i], range)) break;
      inputs.push_back(files[i]);
    }
    return inputs;
  }
  // Of tables that overlap each other all must go, or an older entry would come to lie above a
  // newer one: widen the range by each table found until none is new.
  std::vector<bool> taken(files.size());
  UserKeyRange hull = range;
  std::string_view begin;
  std::string_view end;
  for (bool widened = true; widened;) {
    widened = false;
    for (size_t i = 0; i < files.size(); ++i) {
      if (taken[i] || EndsBefore(*files[i], hull) || BeginsAfter(*files[i], hull)) continue;
      taken[i] = true;
      const std::string_view smallest = UserKey(files[i]->smallest);
      const std::string_view largest = UserKey(files[i]->largest);
      if (hull.begin != nullptr && comparator_->CompareUser(smallest, *hull.begin) < 0) {
        begin = smallest;
        hull.begin = &begin;
        widened = true;
      }
      if (hull.end != nullptr && comparator_->CompareUser(largest, *hull.end) > 0) {
        end = largest;
        hull.end = &end;
        widened = true;
      }
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (taken[i]) inputs.push_back(files[i]);
  }
  return inputs;
}

int Version::LevelForMemTable(std::string_view smallest_user_key, std::string_view largest_user_key,
                              uint64_t file_bytes_max) const {
  const UserKeyRange range{&smallest_user_key, &largest_user_key};
  if (OverlapInLevel(0, range)) return 0;
  int level = 0;
  while (level < kMemTableLevelMax && !OverlapInLevel(level + 1, range)) {
    const uint64_t below = weft::lsm::TotalBytes(OverlappingInputs(level + 2, range));
    if (below > GrandparentOverlapBytesMax(file_bytes_max)) break;
    ++level;
  }
  return level;
}

uint64_t Version::ApproximateOffsetOf(std::string_view internal_key) const {
  uint64_t sum = 0;
  for (int level = 0; level < kLevels; ++level) {
    for (const FileRef& file : this->level(level).files()) {
      if (comparator_->Compare(file->largest, internal_key) <= 0) {
        sum += file->bytes;
      } else if (comparator_->Compare(file->smallest, internal_key) > 0) {
        if (level > 0) break;
      } else {
        OpenTable open;
        // A table that cannot be opened counts nothing: sizes are about.
        if (tables_->Find(*file, &open).ok()) sum += open.table->ApproximateOffsetOf(internal_key);
      }
    }
  }
  return sum;
}

std::string Version::DebugString() const {
  std::string text;
  for (int level = 0; level < kLevels; ++level) {
    text += "--- level " + std::to_string(level) + " ---\n";
    for (const FileRef& file : this->level(level).files()) {
      text += ' ' + std::to_string(file->number) + ':' + std::to_string(file->bytes) + '[' +
              KeyText(file->smallest, "1", "0") + " .. " + KeyText(file->largest, "1", "0") + "]\n";
    }
  }
  return text;
}

}  // namespace weft::lsm
