// LevelDB's library behind the calls of durable/store.h.
#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "durable/leveldb_env.h"
#include "durable/store.h"

namespace weft::durable {
namespace {

leveldb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

class ForeignComparator final : public leveldb::Comparator {
 public:
  explicit ForeignComparator(const weft::Comparator* comparator) : comparator_(comparator) {}
  int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override {
    return comparator_->Compare(ToView(a), ToView(b));
  }
  const char* Name() const override { return comparator_->Name(); }
  void FindShortestSeparator(std::string* start, const leveldb::Slice& limit) const override {
    comparator_->FindShortestSeparator(start, ToView(limit));
  }
  void FindShortSuccessor(std::string* key) const override { comparator_->FindShortSuccessor(key); }

 private:
  const weft::Comparator* comparator_;
};

// What LevelDB's options point to.
struct Surroundings {
  std::unique_ptr<leveldb::Env> env;
  std::unique_ptr<ForeignComparator> comparator;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::Cache> cache;
  leveldb::Options options;
};

std::unique_ptr<Surroundings> MakeSurroundings(const Shape& shape) {
  auto made = std::make_unique<Surroundings>();
  leveldb::Options& options = made->options;
  options.create_if_missing = shape.create;
  options.paranoid_checks = shape.paranoid;
  if (shape.files != nullptr) {
    made->env = NewLevelDbEnv(shape.files);
    options.env = made->env.get();
  }
  if (shape.comparator != nullptr) {
    made->comparator = std::make_unique<ForeignComparator>(shape.comparator);
    options.comparator = made->comparator.get();
  }
  if (shape.bloom_bits > 0) {
    made->filter.reset(leveldb::NewBloomFilterPolicy(shape.bloom_bits));
    options.filter_policy = made->filter.get();
  }
  made->cache.reset(leveldb::NewLRUCache(shape.cache_bytes));
  options.block_cache = made->cache.get();
  options.write_buffer_size = shape.write_buffer_bytes;
  options.max_open_files = shape.open_files_max;
  options.block_size = shape.block_bytes;
  options.block_restart_interval = shape.restart_interval;
  options.max_file_size = shape.file_bytes_max;
  options.compression = shape.compression == Compression::kNone ? leveldb::kNoCompression
                                                                : leveldb::kSnappyCompression;
  options.reuse_logs = shape.reuse_logs;
  return made;
}

// Keeps to bounds, which LevelDB does not know.
class Bounded final : public weft::Iterator {
 public:
  Bounded(leveldb::Iterator* it, const View& view, KeyLess less)
      : it_(it), lower_(view.lower), upper_(view.upper), less_(less) {}
  bool Valid() const override {
    if (!it_->Valid()) return false;
    const std::string_view at = ToView(it_->key());
    return !(lower_ && less_(at, *lower_)) && !(upper_ && !less_(at, *upper_));
  }
  void SeekToFirst() override { lower_ ? it_->Seek(ToSlice(*lower_)) : it_->SeekToFirst(); }
  void SeekToLast() override {
    if (!upper_) return it_->SeekToLast();
    it_->Seek(ToSlice(*upper_));
    it_->Valid() ? it_->Prev() : it_->SeekToLast();
  }
  void Seek(std::string_view target) override {
    it_->Seek(ToSlice(lower_ && less_(target, *lower_) ? *lower_ : target));
  }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  std::string_view key() const override { return ToView(it_->key()); }
  std::string_view value() const override { return ToView(it_->value()); }
  Status status() const override { return FromLevelDb(it_->status()); }

 private:
  std::unique_ptr<leveldb::Iterator> it_;
  std::optional<std::string_view> lower_;
  std::optional<std::string_view> upper_;
  KeyLess less_;
};

class LevelDbStore final : public Store {
 public:
  LevelDbStore(std::unique_ptr<Surroundings> surroundings, KeyLess less, leveldb::DB* db)
      : surroundings_(std::move(surroundings)), less_(less), db_(db) {}

  Status Write(const Batch& batch, bool sync) override {
    leveldb::WriteBatch updates;
    for (const Change& change : batch) {
      if (change.value) {
        updates.Put(change.key, *change.value);
      } else {
        updates.Delete(change.key);
      }
    }
    return FromLevelDb(db_->Write(How(sync), &updates));
  }
  Status WriteOne(const Change& change, bool sync) override {
    return FromLevelDb(change.value ? db_->Put(How(sync), change.key, *change.value)
                                    : db_->Delete(How(sync), change.key));
  }
  Status Get(const View& view, std::string_view key, std::string* value) override {
    return FromLevelDb(db_->Get(How(view), ToSlice(key), value));
  }
  void MultiGet(const View& view, std::span<Lookup> lookups) override {
    const leveldb::Snapshot* snapshot = view.snapshot == nullptr ? db_->GetSnapshot() : nullptr;
    View one = view;
    if (snapshot != nullptr) one.snapshot = snapshot;
    for (Lookup& lookup : lookups) lookup.status = Get(one, lookup.key, &lookup.value);
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
  }
  std::unique_ptr<Iterator> NewIterator(const View& view) override {
    return std::make_unique<Bounded>(db_->NewIterator(How(view)), view, less_);
  }
  const void* GetSnapshot() override { return db_->GetSnapshot(); }
  void ReleaseSnapshot(const void* snapshot) override {
    db_->ReleaseSnapshot(static_cast<const leveldb::Snapshot*>(snapshot));
  }
  Status CompactRange(const std::string_view* begin, const std::string_view* end) override {
    const leveldb::Slice from = begin != nullptr ? ToSlice(*begin) : leveldb::Slice();
    const leveldb::Slice to = end != nullptr ? ToSlice(*end) : leveldb::Slice();
    db_->CompactRange(begin != nullptr ? &from : nullptr, end != nullptr ? &to : nullptr);
    return Status::Ok();
  }
  Status Flush() override { return Unsupported(); }
  Status Checkpoint(const std::string&) override { return Unsupported(); }
  Status Ingest(std::span<const std::pair<std::string, std::string>>, const std::string&,
                bool) override {
    return Unsupported();
  }
  std::string Property(std::string_view name) override {
    std::string value;
    db_->GetProperty("leveldb." + std::string(name), &value);
    return value;
  }
  uint64_t ApproximateBytes(std::string_view start, std::string_view limit) override {
    const leveldb::Range range(ToSlice(start), ToSlice(limit));
    uint64_t bytes = 0;
    db_->GetApproximateSizes(&range, 1, &bytes);
    return bytes;
  }

 private:
  static Status Unsupported() { return Status(Code::kUnsupported, "not in LevelDB"); }
  static leveldb::WriteOptions How(bool sync) {
    leveldb::WriteOptions options;
    options.sync = sync;
    return options;
  }
  static leveldb::ReadOptions How(const View& view) {
    leveldb::ReadOptions options;
    options.verify_checksums = view.verify;
    options.fill_cache = view.fill_cache;
    options.snapshot = static_cast<const leveldb::Snapshot*>(view.snapshot);
    return options;
  }

  std::unique_ptr<Surroundings> surroundings_;  // outlives db_
  KeyLess less_;
  std::unique_ptr<leveldb::DB> db_;
};

class LevelDb final : public Engine {
 public:
  const char* Name() const override { return "leveldb"; }
  Result<std::unique_ptr<Store>> Open(const Shape& shape, const std::string& dir) override {
    std::unique_ptr<Surroundings> surroundings = MakeSurroundings(shape);
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(surroundings->options, dir, &db);
    if (!status.ok()) return FromLevelDb(status);
    return std::unique_ptr<Store>(
        std::make_unique<LevelDbStore>(std::move(surroundings), KeyLess{shape.comparator}, db));
  }
  Result<std::unique_ptr<Store>> OpenReadOnly(const Shape&, const std::string&) override {
    return Status(Code::kUnsupported, "not in LevelDB");
  }
  Status Repair(const Shape& shape, const std::string& dir) override {
    return FromLevelDb(leveldb::RepairDB(dir, MakeSurroundings(shape)->options));
  }
  Status Destroy(const Shape& shape, const std::string& dir) override {
    return FromLevelDb(leveldb::DestroyDB(dir, MakeSurroundings(shape)->options));
  }
};

}  // namespace

Engine* LevelDbEngine() {
  static LevelDb engine;
  return &engine;
}

}  // namespace weft::durable
