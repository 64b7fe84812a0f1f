#include <cstdlib>
#include <map>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "bench/store/leveldb_like.h"

namespace weft::bench::store_internal {
namespace {

struct RocksDbLibrary {
  using Db = rocksdb::DB;
  using Iterator = rocksdb::Iterator;
  using Slice = rocksdb::Slice;
  using LibraryStatus = rocksdb::Status;
  using ReadOptions = rocksdb::ReadOptions;
  using WriteOptions = rocksdb::WriteOptions;
  struct Held {};  // its options share what they name
  static constexpr const char* kName = "RocksDB";
};

class RocksDbReader final : public Reader {
 public:
  explicit RocksDbReader(rocksdb::DB* db)
      : db_(db), keys_(kMultiGetMax), values_(kMultiGetMax), statuses_(kMultiGetMax) {}

  Answer Get(std::string_view key) override {
    values_[0].Reset();
    return AnswerOf(
        db_->Get(options_, db_->DefaultColumnFamily(), SliceOf<RocksDbLibrary>(key), &values_[0]),
        values_[0]);
  }
  void MultiGet(std::span<const std::string_view> keys, std::span<Answer> answers) override {
    for (size_t i = 0; i < keys.size(); ++i) {
      keys_[i] = SliceOf<RocksDbLibrary>(keys[i]);
      values_[i].Reset();
    }
    db_->MultiGet(options_, db_->DefaultColumnFamily(), keys.size(), keys_.data(), values_.data(),
                  statuses_.data());
    for (size_t i = 0; i < keys.size(); ++i) answers[i] = AnswerOf(statuses_[i], values_[i]);
  }

 private:
  Answer AnswerOf(const rocksdb::Status& status, const rocksdb::PinnableSlice& value) {
    if (status.ok()) return {true, ViewOf(value)};
    if (!status.IsNotFound()) status_ = StatusOf<RocksDbLibrary>(status);
    return {};
  }

  rocksdb::DB* const db_;
  const rocksdb::ReadOptions options_;
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
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

class RocksDbStore final : public LevelDbLikeStore<RocksDbLibrary> {
 public:
  using LevelDbLikeStore<RocksDbLibrary>::LevelDbLikeStore;

  static Result<std::unique_ptr<Store>> Open(const StoreSettings& settings,
                                             const std::string& dir) {
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(RocksDbOptions(settings), dir, &opened);
    if (!status.ok()) return StatusOf<RocksDbLibrary>(status);
    return std::unique_ptr<Store>(std::make_unique<RocksDbStore>(RocksDbLibrary::Held(), opened));
  }

  std::unique_ptr<Reader> NewReader() override { return std::make_unique<RocksDbReader>(db()); }
  Status CompactAll() override {
    return StatusOf<RocksDbLibrary>(
        db()->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  }
  StoreFigures Figures() override;
};

StoreFigures RocksDbStore::Figures() {
  StoreFigures figures;
  db()->GetProperty(rocksdb::DB::Properties::kLevelStats, &figures.text);
  std::map<std::string, std::string> map;
  if (!db()->GetMapProperty(rocksdb::DB::Properties::kCFStats, &map)) return figures;
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
