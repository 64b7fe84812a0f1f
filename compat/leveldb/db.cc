#include "leveldb/db.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/posix_fd.h"
#include "convert.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"
#include "native_iterator.h"
#include "native_options.h"
#include "weft/db.h"

namespace leveldb {

namespace {

using weft::compat::NativeIterator;
using weft::compat::NativeOptions;
using weft::compat::ToLevelDb;
using weft::compat::View;

weft::WriteOptions ToWeft(const WriteOptions& options) { return {.sync = options.sync}; }

// A snapshot is handed out as it is: programs can only hand it back.
weft::ReadOptions ToWeft(const ReadOptions& options) {
  weft::ReadOptions ours;
  ours.verify_checksums = options.verify_checksums;
  ours.fill_cache = options.fill_cache;
  ours.snapshot = reinterpret_cast<const weft::Snapshot*>(options.snapshot);
  return ours;
}

class Store final : public DB {
 public:
  Store(std::unique_ptr<NativeOptions> options, std::unique_ptr<weft::Db> ours)
      : options_(std::move(options)), ours_(std::move(ours)) {}

  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) override {
    return ToLevelDb(ours_->Put(ToWeft(options), View(key), View(value)));
  }
  Status Delete(const WriteOptions& options, const Slice& key) override {
    return ToLevelDb(ours_->Delete(ToWeft(options), View(key)));
  }
  Status Write(const WriteOptions& options, WriteBatch* updates) override {
    if (updates == nullptr) return ToLevelDb(ours_->Flush());  // LevelDB's unwritten custom
    return ToLevelDb(ours_->Write(ToWeft(options), WriteBatchAccess::Get(updates)));
  }
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override {
    return ToLevelDb(ours_->Get(ToWeft(options), View(key), value));
  }
  Iterator* NewIterator(const ReadOptions& options) override {
    return new NativeIterator(ours_->NewIterator(ToWeft(options)));  // freed by the caller
  }

  const Snapshot* GetSnapshot() override {
    return reinterpret_cast<const Snapshot*>(ours_->GetSnapshot());
  }
  void ReleaseSnapshot(const Snapshot* snapshot) override {
    ours_->ReleaseSnapshot(reinterpret_cast<const weft::Snapshot*>(snapshot));
  }

  bool GetProperty(const Slice& property, std::string* value) override {
    if (value != nullptr) value->clear();
    return ours_->GetProperty(View(property), value);
  }
  void GetApproximateSizes(const Range* range, int n, uint64_t* sizes) override;
  void CompactRange(const Slice* begin, const Slice* end) override {
    const std::string_view from = begin == nullptr ? std::string_view() : View(*begin);
    const std::string_view to = end == nullptr ? std::string_view() : View(*end);
    // LevelDB's call tells nothing; what failed shows in the log and in the next write.
    (void)ours_->CompactRange({.rewrite_deepest = false}, begin == nullptr ? nullptr : &from,
                              end == nullptr ? nullptr : &to);
  }

 private:
  const std::unique_ptr<NativeOptions> options_;  // outlives the store below
  const std::unique_ptr<weft::Db> ours_;
};

void Store::GetApproximateSizes(const Range* range, int n, uint64_t* sizes) {
  std::array<weft::KeyRange, 16> ranges;  // in groups: no allocation
  while (n > 0) {
    const size_t group = std::min(static_cast<size_t>(n), ranges.size());
    for (size_t i = 0; i < group; i++) {
      ranges[i] = {View(range[i].start), View(range[i].limit)};
    }
    ours_->GetApproximateSizes({ranges.data(), group}, {sizes, group});
    range += group;
    sizes += group;
    n -= static_cast<int>(group);
  }
}

// Programs that leave these out would end in LevelDB.
Status CheckOptions(const Options& options) {
  if (options.comparator == nullptr) return Status::InvalidArgument("options", "no comparator");
  if (options.env == nullptr) return Status::InvalidArgument("options", "no env");
  return Status::OK();
}

// Why a store did not open, in LevelDB's words where programs may look for them.
Status OpenError(const Options& options, const std::string& name, const weft::Status& error) {
  if (error.code() == weft::Code::kRetryLater && !weft::base::IsWantOfDescriptors(error)) {
    return Status::IOError("lock " + name + "/LOCK", "already held by process");
  }
  if (error.code() == weft::Code::kInvalidArgument || error.code() == weft::Code::kCorruption) {
    const bool exists = options.env->FileExists(name + "/CURRENT");
    // To Weft it is damage where files of a store are left.
    if (!exists && !options.create_if_missing) {
      return Status::InvalidArgument(name, "does not exist (create_if_missing is false)");
    }
    if (exists && options.error_if_exists && error.code() == weft::Code::kInvalidArgument) {
      return Status::InvalidArgument(name, "exists (error_if_exists is true)");
    }
  }
  return ToLevelDb(error);
}

}  // namespace

Snapshot::~Snapshot() = default;
DB::~DB() = default;

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) {
  *dbptr = nullptr;
  if (Status status = CheckOptions(options); !status.ok()) return status;
  auto native = std::make_unique<NativeOptions>(options);
  native->OpenInfoLog(name);
  weft::Result<std::unique_ptr<weft::Db>> opened = weft::Db::Open(native->options(), name);
  if (!opened) return OpenError(options, name, opened.error());
  *dbptr = new Store(std::move(native), std::move(*opened));  // freed by the caller
  return Status::OK();
}

Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  WriteBatch batch;
  batch.Put(key, value);
  return Write(options, &batch);
}

Status DB::Delete(const WriteOptions& options, const Slice& key) {
  WriteBatch batch;
  batch.Delete(key);
  return Write(options, &batch);
}

Status DestroyDB(const std::string& name, const Options& options) {
  if (Status status = CheckOptions(options); !status.ok()) return status;
  const NativeOptions native(options);
  const weft::Status status = weft::DestroyDb(name, native.options());
  if (status.code() == weft::Code::kRetryLater) return OpenError(options, name, status);
  return ToLevelDb(status);
}

Status RepairDB(const std::string& dbname, const Options& options) {
  if (Status status = CheckOptions(options); !status.ok()) return status;
  NativeOptions native(options);
  native.OpenInfoLog(dbname);
  const weft::Status status = weft::RepairDb(dbname, native.options());
  if (status.code() == weft::Code::kRetryLater) return OpenError(options, dbname, status);
  return ToLevelDb(status);
}

}  // namespace leveldb
