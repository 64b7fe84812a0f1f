// Weft's store behind the calls of durable/store.h.
#include "weft/db.h"

#include "durable/store.h"

namespace weft::durable {
namespace {

DbOptions ToOptions(const Shape& shape) {
  DbOptions options;
  if (shape.comparator != nullptr) options.comparator = shape.comparator;
  options.create_if_missing = shape.create;
  options.paranoid_checks = shape.paranoid;
  if (shape.files != nullptr) options.file_system = shape.files;
  options.write_buffer_size = shape.write_buffer_bytes;
  options.max_open_files = shape.open_files_max;
  options.block_cache = NewLruBlockCache(shape.cache_bytes);
  options.block_size = shape.block_bytes;
  options.block_restart_interval = shape.restart_interval;
  options.max_file_size = shape.file_bytes_max;
  options.compression = shape.compression;
  options.reuse_logs = shape.reuse_logs;
  if (shape.bloom_bits > 0) options.filter_policy = NewBloomFilterPolicy(shape.bloom_bits);
  options.background_threads = shape.threads;
  options.level0_compaction_trigger = shape.level0_trigger;
  if (shape.level0_trigger >= options.level0_slowdown_trigger) {
    options.level0_slowdown_trigger = shape.level0_trigger + 4;
    options.level0_stop_trigger = shape.level0_trigger + 8;
  }
  options.level1_bytes_max = shape.level1_bytes_max;
  options.background_bytes_per_second = shape.background_bytes_per_second;
  options.seek_compaction = shape.seek_compaction;
  options.verify_compaction = shape.verify_compaction;
  options.compaction_device = shape.compaction_device;
  options.compaction_direct_io = shape.compaction_direct_io;
  return options;
}

class WeftStore final : public Store {
 public:
  WeftStore(DbOptions options, std::unique_ptr<Db> db)
      : options_(std::move(options)), db_(std::move(db)) {}

  Status Write(const Batch& batch, bool sync) override {
    WriteBatch updates;
    for (const Change& change : batch) {
      if (change.value) {
        updates.Put(change.key, *change.value);
      } else {
        updates.Delete(change.key);
      }
    }
    return db_->Write({.sync = sync}, &updates);
  }
  Status WriteOne(const Change& change, bool sync) override {
    return change.value ? db_->Put({.sync = sync}, change.key, *change.value)
                        : db_->Delete({.sync = sync}, change.key);
  }
  Status Get(const View& view, std::string_view key, std::string* value) override {
    return db_->Get(How(view), key, value);
  }
  void MultiGet(const View& view, std::span<Lookup> lookups) override {
    std::vector<DbLookup> own(lookups.size());
    for (size_t i = 0; i < own.size(); ++i) own[i].key = lookups[i].key;
    db_->MultiGet(How(view), own);
    for (size_t i = 0; i < own.size(); ++i) {
      lookups[i].value = std::move(own[i].value);
      lookups[i].status = own[i].status;
    }
  }
  std::unique_ptr<Iterator> NewIterator(const View& view) override {
    return db_->NewIterator(How(view));
  }
  const void* GetSnapshot() override { return db_->GetSnapshot(); }
  void ReleaseSnapshot(const void* snapshot) override {
    db_->ReleaseSnapshot(static_cast<const Snapshot*>(snapshot));
  }
  Status CompactRange(const std::string_view* begin, const std::string_view* end) override {
    return db_->CompactRange(begin, end);
  }
  Status Flush() override { return db_->Flush(); }
  Status Checkpoint(const std::string& dir) override { return db_->Checkpoint(dir); }
  Status Ingest(std::span<const std::pair<std::string, std::string>> entries,
                const std::string& path, bool move) override {
    Result<std::unique_ptr<TableWriter>> writer = TableWriter::Open(options_, path);
    if (!writer) return writer.error();
    for (const auto& [key, value] : entries) {
      if (Status status = (*writer)->Put(key, value); !status.ok()) return status;
    }
    if (Status status = (*writer)->Finish(); !status.ok()) return status;
    return db_->Ingest(std::span(&path, 1), move);
  }
  std::string Property(std::string_view name) override {
    std::string value;
    db_->GetProperty("leveldb." + std::string(name), &value);
    return value;
  }
  uint64_t ApproximateBytes(std::string_view start, std::string_view limit) override {
    const KeyRange range{start, limit};
    uint64_t bytes = 0;
    db_->GetApproximateSizes(std::span(&range, 1), std::span(&bytes, 1));
    return bytes;
  }

 private:
  static ReadOptions How(const View& view) {
    ReadOptions options;
    options.verify_checksums = view.verify;
    options.fill_cache = view.fill_cache;
    options.snapshot = static_cast<const Snapshot*>(view.snapshot);
    options.lower_bound = view.lower;
    options.upper_bound = view.upper;
    return options;
  }

  DbOptions options_;
  std::unique_ptr<Db> db_;
};

class Weft final : public Engine {
 public:
  const char* Name() const override { return "weft"; }
  Result<std::unique_ptr<Store>> Open(const Shape& shape, const std::string& dir) override {
    const DbOptions options = ToOptions(shape);
    return Wrapped(options, Db::Open(options, dir));
  }
  Result<std::unique_ptr<Store>> OpenReadOnly(const Shape& shape, const std::string& dir) override {
    const DbOptions options = ToOptions(shape);
    return Wrapped(options, Db::OpenReadOnly(options, dir));
  }
  Status Repair(const Shape& shape, const std::string& dir) override {
    return RepairDb(dir, ToOptions(shape));
  }
  Status Destroy(const Shape& shape, const std::string& dir) override {
    return DestroyDb(dir, ToOptions(shape));
  }

 private:
  static Result<std::unique_ptr<Store>> Wrapped(const DbOptions& options,
                                                Result<std::unique_ptr<Db>> db) {
    if (!db) return db.error();
    return std::unique_ptr<Store>(std::make_unique<WeftStore>(options, std::move(*db)));
  }
};

}  // namespace

Engine* WeftEngine() {
  static Weft engine;
  return &engine;
}

}  // namespace weft::durable
