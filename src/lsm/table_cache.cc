#include "lsm/table_cache.h"

#include <algorithm>
#include <utility>

#include "lsm/file_names.h"
#include "lsm/own_files.h"

namespace weft::lsm {
namespace {

size_t Limit(int max_open_files) { return static_cast<size_t>(std::max(max_open_files, 8)); }

}  // namespace

TableCache::TableCache(FileSystem* files, std::string dir, const table::TableReadOptions& options,
                       int max_open_files, bool beside_writers)
    : files_(files),
      dir_(std::move(dir)),
      options_(options),
      beside_writers_(beside_writers),
      pinned_max_(Limit(max_open_files) - Limit(max_open_files) / 4),
      recent_max_(Limit(max_open_files) / 4),
      pinned_(std::make_shared<std::atomic<size_t>>(0)) {}

TableCache::~TableCache() = default;

std::string TableCache::PathOf(uint64_t number) const {
  std::string path = TableFileName(dir_, number);
  if (files_->FileExists(path)) return path;
  std::string old_path = OldTableFileName(dir_, number);
  return files_->FileExists(old_path) ? old_path : path;
}

// Of a table that was there when the store was opened.
Status TableCache::Gone(const std::string& path) const {
  if (!beside_writers_) return {Code::kCorruption, path + " is missing"};
  return {
      Code::kRetryLater,
      path + " is gone: another process writes to the store and dropped it; open the store again"};
}

Result<std::shared_ptr<const table::Table>> TableCache::Open(const FileMeta& file) {
  std::string path = TableFileName(dir_, file.number);
  Result<std::unique_ptr<RandomAccessFile>> opened = files_->NewRandomAccessFile(path);
  if (!opened && opened.error().code() == Code::kNotFound) {
    std::string old_path = OldTableFileName(dir_, file.number);
    Result<std::unique_ptr<RandomAccessFile>> old = files_->NewRandomAccessFile(old_path);
    if (old || old.error().code() != Code::kNotFound) {
      path = std::move(old_path);
      opened = std::move(old);
    }
  }
  if (!opened) {
    return opened.error().code() == Code::kNotFound ? Gone(path) : opened.error();
  }
  const Result<uint64_t> bytes = files_->GetFileSize(path);
  if (!bytes) return bytes.error().code() == Code::kNotFound ? Gone(path) : bytes.error();
  // Longer does no harm: the table is read from the end that the manifest names, as LevelDB does.
  if (bytes.value() < file.bytes) {
    return Status(Code::kCorruption, path + " has " + std::to_string(bytes.value()) +
                                         " bytes, but should have " + std::to_string(file.bytes));
  }
  Result<std::unique_ptr<table::Table>> table =
      table::Table::Open(options_, std::move(opened.value()), file.bytes, std::move(path));
  if (!table) return OwnFileError(table.error());
  return std::shared_ptr<const table::Table>(std::move(table.value()));
}

Status TableCache::FindSlowly(const FileMeta& file, OpenTable* open) {
  Result<std::shared_ptr<const table::Table>> found = FindShared(file);
  if (!found) {
    // To lookups kRetryLater says something else than that there is no descriptor (DbLookup).
    const bool is_want = found.error().code() == Code::kRetryLater && !beside_writers_;
    return is_want ? Status(Code::kIoError, std::string(found.error().message())) : found.error();
  }
  open->table = found->get();
  open->holder = std::move(found.value());
  return {};
}

std::shared_ptr<const table::Table> TableCache::RecentLocked(const FileMeta& file) {
  if (file.pin.get() != nullptr) return file.pin.shared();
  const auto at = by_number_.find(file.number);
  if (at == by_number_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, at->second);
  return recent_.front().table;
}

Result<std::shared_ptr<const table::Table>> TableCache::FindShared(const FileMeta& file) {
  if (file.pin.get() != nullptr) return file.pin.shared();
  {
    base::MutexLock lock(&mutex_);
    if (auto table = RecentLocked(file); table != nullptr) return table;
  }
  // Two threads may open one table at once; the first to come back here is kept.
  Result<std::shared_ptr<const table::Table>> opened = Open(file);
  if (!opened) return opened;
  std::shared_ptr<const table::Table> displaced;  // closed outside the lock
  base::MutexLock lock(&mutex_);
  if (auto table = RecentLocked(file); table != nullptr) return table;
  if (pinned_->load(std::memory_order_relaxed) < pinned_max_) {
    pinned_->fetch_add(1, std::memory_order_relaxed);
    file.pin.Set(opened.value(), pinned_);
    return opened;
  }
  recent_.push_front({file.number, opened.value()});
  by_number_[file.number] = recent_.begin();
  if (recent_.size() > recent_max_) {
    displaced = std::move(recent_.back().table);
    by_number_.erase(recent_.back().number);
    recent_.pop_back();
  }
  return opened;
}

void TableCache::Evict(uint64_t number) {
  std::shared_ptr<const table::Table> gone;  // closed outside the lock
  base::MutexLock lock(&mutex_);
  const auto at = by_number_.find(number);
  if (at == by_number_.end()) return;
  gone = std::move(at->second->table);
  recent_.erase(at->second);
  by_number_.erase(at);
}

size_t TableCache::open_tables() const {
  base::MutexLock lock(&mutex_);
  return recent_.size() + pinned_->load(std::memory_order_relaxed);
}

}  // namespace weft::lsm
