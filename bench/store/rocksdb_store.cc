#include <cstdlib>
#include <map>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "bench/store/store.h"

namespace weft::bench::store_internal {
namespace {

rocksdb::Slice RocksDbSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view RocksDbView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Status RocksDbStatus(const rocksdb::Status& status) {
  if (status.ok()) return Status::Ok();
  return Status(status.IsCorruption() ? Code::kCorruption : Code::kIoError,
                "RocksDB: " + status.ToString());
}

class RocksDbReader final : public Reader {
 public:
  explicit RocksDbReader(rocksdb::DB* db)
      : db_(db), keys_(kMultiGetMax), values_(kMultiGetMax), statuses_(kMultiGetMax) {}

  Answer Get(std::string_view key) override {
    values_[0].Reset();
    return AnswerOf(db_->Get(options_, db_->DefaultColumnFamily(), RocksDbSlice(key), &values_[0]),
                    values_[0]);
  }
  void MultiGet(std::span<const std::string_view> keys, std::span<Answer> answers) override {
    for (size_t i = 0; i < keys.size(); ++i) {
      keys_[i] = RocksDbSlice(keys[i]);
      values_[i].Reset();
    }
    db_->MultiGet(options_, db_->DefaultColumnFamily(), keys.size(), keys_.data(), values_.data(),
                  statuses_.data());
    for (size_t i = 0; i < keys.size(); ++i) answers[i] = AnswerOf(statuses_[i], values_[i]);
  }

 private:
  Answer AnswerOf(const rocksdb::Status& status, const rocksdb::PinnableSlice& value) {
    if (status.ok()) return {true, RocksDbView(value)};
    if (!status.IsNotFound()) status_ = RocksDbStatus(status);
    return {};
  }

  rocksdb::DB* const db_;
  const rocksdb::ReadOptions options_;
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

class RocksDbCursor final : public Cursor {
 public:
  explicit RocksDbCursor(rocksdb::Iterator* iterator) : iterator_(iterator) {}

  void SeekToFirst() override { iterator_->SeekToFirst(); }
  void SeekToLast() override { iterator_->SeekToLast(); }
  void Seek(std::string_view key) override { iterator_->Seek(RocksDbSlice(key)); }
  bool Valid() const override { return iterator_->Valid(); }
  void Next() override { iterator_->Next(); }
  void Prev() override { iterator_->Prev(); }
  std::string_view Key() const override { return RocksDbView(iterator_->key()); }
  std::string_view Value() const override { return RocksDbView(iterator_->value()); }
  Status status() const override { return RocksDbStatus(iterator_->status()); }

 private:
  const std::unique_ptr<rocksdb::Iterator> iterator_;
};

rocksdb::BlockBasedTableOptions TableOptionsOf(const StoreSettings& settings) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(settings.block_cache_bytes);
  if (settings.bloom_bits > 0)
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(settings.bloom_bits));
  return table;
}

// As RocksDB's own benchmark sets it up: its defaults, pipelined writes, and nothing that reports.
rocksdb::Options RocksDbOptions(const StoreSettings& settings) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = settings.write_buffer_bytes;
  options.target_file_size_base = settings.file_bytes;
  options.max_bytes_for_level_base = settings.rocksdb_level1_bytes;
  options.max_open_files = -1;
  options.max_background_compactions = settings.background_threads;
  options.max_background_flushes = 1;
  options.max_subcompactions = 1;
  options.env->SetBackgroundThreads(settings.background_threads, rocksdb::Env::LOW);
  options.env->SetBackgroundThreads(1, rocksdb::Env::HIGH);
  options.enable_pipelined_write = true;
  options.recycle_log_file_num = 0;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.compression = settings.compression == StoreCompression::kNone
                            ? rocksdb::kNoCompression
                            : rocksdb::kSnappyCompression;
  if (!settings.automatic_compaction) {
    options.disable_auto_compactions = true;
    options.level0_slowdown_writes_trigger = 1000;
    options.level0_stop_writes_trigger = 1000;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptionsOf(settings)));
  return options;
}

class RocksDbStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> Open(const StoreSettings& settings,
                                             const std::string& dir) {
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(RocksDbOptions(settings), dir, &db);
    if (!status.ok()) return RocksDbStatus(status);
    auto store = std::make_unique<RocksDbStore>();
    store->db_.reset(db);
    return std::unique_ptr<Store>(std::move(store));
  }

  Status Put(std::string_view key, std::string_view value, bool sync) override {
    rocksdb::WriteOptions options;
    options.sync = sync;
    return RocksDbStatus(db_->Put(options, RocksDbSlice(key), RocksDbSlice(value)));
  }
  Status Delete(std::string_view key, bool sync) override {
    rocksdb::WriteOptions options;
    options.sync = sync;
    return RocksDbStatus(db_->Delete(options, RocksDbSlice(key)));
  }
  std::unique_ptr<Reader> NewReader() override {
    return std::make_unique<RocksDbReader>(db_.get());
  }
  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<RocksDbCursor>(db_->NewIterator(rocksdb::ReadOptions()));
  }
  Status CompactAll() override {
    return RocksDbStatus(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  }
  StoreFigures Figures() override;

 private:
  std::unique_ptr<rocksdb::DB> db_;
};

StoreFigures RocksDbStore::Figures() {
  StoreFigures figures;
  db_->GetProperty(rocksdb::DB::Properties::kLevelStats, &figures.text);
  std::map<std::string, std::string> map;
  if (!db_->GetMapProperty(rocksdb::DB::Properties::kCFStats, &map)) return figures;
  const auto bytes = [&](const char* name) {
    const auto at = map.find(std::string("compaction.Sum.") + name);
    return at == map.end() ? 0.0 : std::strtod(at->second.c_str(), nullptr) * (1 << 30);
  };
  figures.compaction_bytes_read = bytes("ReadGB");
  figures.table_bytes_written = bytes("WriteGB");
  return figures;
}

}  // namespace

Result<std::unique_ptr<Store>> OpenRocksDb(const StoreSettings& settings, const std::string& dir) {
  return RocksDbStore::Open(settings, dir);
}

std::string RocksDbTitle() {
  return "RocksDB " + std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
         std::to_string(ROCKSDB_PATCH);
}

}  // namespace weft::bench::store_internal
