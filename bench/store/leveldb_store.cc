#include <cstdio>
#include <sstream>

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>

#include "bench/store/store.h"

namespace weft::bench::store_internal {
namespace {

leveldb::Slice LevelDbSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view LevelDbView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

Status LevelDbStatus(const leveldb::Status& status) {
  if (status.ok()) return Status::Ok();
  return Status(status.IsCorruption() ? Code::kCorruption : Code::kIoError,
                "LevelDB: " + status.ToString());
}

class LevelDbReader final : public Reader {
 public:
  explicit LevelDbReader(leveldb::DB* db) : db_(db), values_(kMultiGetMax) {}

  Answer Get(std::string_view key) override { return GetInto(key, &values_[0]); }
  void MultiGet(std::span<const std::string_view> keys, std::span<Answer> answers) override {
    for (size_t i = 0; i < keys.size(); ++i) answers[i] = GetInto(keys[i], &values_[i]);
  }

 private:
  Answer GetInto(std::string_view key, std::string* value) {
    const leveldb::Status status = db_->Get(leveldb::ReadOptions(), LevelDbSlice(key), value);
    if (status.ok()) return {true, *value};
    if (!status.IsNotFound()) status_ = LevelDbStatus(status);
    return {};
  }

  leveldb::DB* const db_;
  std::vector<std::string> values_;
};

class LevelDbCursor final : public Cursor {
 public:
  explicit LevelDbCursor(leveldb::Iterator* iterator) : iterator_(iterator) {}

  void SeekToFirst() override { iterator_->SeekToFirst(); }
  void SeekToLast() override { iterator_->SeekToLast(); }
  void Seek(std::string_view key) override { iterator_->Seek(LevelDbSlice(key)); }
  bool Valid() const override { return iterator_->Valid(); }
  void Next() override { iterator_->Next(); }
  void Prev() override { iterator_->Prev(); }
  std::string_view Key() const override { return LevelDbView(iterator_->key()); }
  std::string_view Value() const override { return LevelDbView(iterator_->value()); }
  Status status() const override { return LevelDbStatus(iterator_->status()); }

 private:
  const std::unique_ptr<leveldb::Iterator> iterator_;
};

class LevelDbStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> Open(const StoreSettings& settings,
                                             const std::string& dir) {
    auto store = std::make_unique<LevelDbStore>();
    store->cache_.reset(leveldb::NewLRUCache(settings.block_cache_bytes));
    if (settings.bloom_bits > 0)
      store->filter_.reset(leveldb::NewBloomFilterPolicy(settings.bloom_bits));
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = settings.write_buffer_bytes;
    options.max_file_size = settings.file_bytes;
    options.max_open_files = settings.open_files;
    options.block_cache = store->cache_.get();
    options.filter_policy = store->filter_.get();
    options.compression = settings.compression == StoreCompression::kNone
                              ? leveldb::kNoCompression
                              : leveldb::kSnappyCompression;
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, dir, &db);
    if (!status.ok()) return LevelDbStatus(status);
    store->db_.reset(db);
    return std::unique_ptr<Store>(std::move(store));
  }

  Status Put(std::string_view key, std::string_view value, bool sync) override {
    leveldb::WriteOptions options;
    options.sync = sync;
    return LevelDbStatus(db_->Put(options, LevelDbSlice(key), LevelDbSlice(value)));
  }
  Status Delete(std::string_view key, bool sync) override {
    leveldb::WriteOptions options;
    options.sync = sync;
    return LevelDbStatus(db_->Delete(options, LevelDbSlice(key)));
  }
  std::unique_ptr<Reader> NewReader() override {
    return std::make_unique<LevelDbReader>(db_.get());
  }
  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<LevelDbCursor>(db_->NewIterator(leveldb::ReadOptions()));
  }
  Status CompactAll() override {
    db_->CompactRange(nullptr, nullptr);
    return Status::Ok();
  }
  StoreFigures Figures() override;

 private:
  // In this order: the store goes before what it uses.
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
};

StoreFigures LevelDbStore::Figures() {
  StoreFigures figures;
  std::string sstables;
  db_->GetProperty("leveldb.stats", &figures.text);
  std::istringstream lines(figures.text);
  for (std::string line; std::getline(lines, line);) {
    int level = 0, files = 0;
    double size_mib = 0, seconds = 0, read_mib = 0, written_mib = 0;
    if (std::sscanf(line.c_str(), "%d %d %lf %lf %lf %lf", &level, &files, &size_mib, &seconds,
                    &read_mib, &written_mib) != 6)
      continue;
    figures.compaction_bytes_read += read_mib * (1 << 20);
    figures.table_bytes_written += written_mib * (1 << 20);
  }
  if (db_->GetProperty("leveldb.sstables", &sstables)) figures.tables = sstables;
  return figures;
}

}  // namespace

Result<std::unique_ptr<Store>> OpenLevelDb(const StoreSettings& settings, const std::string& dir) {
  return LevelDbStore::Open(settings, dir);
}

std::string LevelDbTitle() {
  return "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." +
         std::to_string(leveldb::kMinorVersion);
}

}  // namespace weft::bench::store_internal
