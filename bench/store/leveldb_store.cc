#include <cstdio>
#include <sstream>

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>

#include "bench/store/leveldb_like.h"

namespace weft::bench::store_internal {
namespace {

struct LevelDbLibrary {
  using Db = leveldb::DB;
  using Iterator = leveldb::Iterator;
  using Slice = leveldb::Slice;
  using LibraryStatus = leveldb::Status;
  using ReadOptions = leveldb::ReadOptions;
  using WriteOptions = leveldb::WriteOptions;
  struct Held {
    std::unique_ptr<leveldb::Cache> cache;
    std::unique_ptr<const leveldb::FilterPolicy> filter;
  };
  static constexpr const char* kName = "LevelDB";
};

class LevelDbReader final : public Reader {
 public:
  explicit LevelDbReader(leveldb::DB* db) : db_(db), values_(kMultiGetMax) {}

  Answer Get(std::string_view key) override { return GetInto(key, &values_[0]); }
  void MultiGet(std::span<const std::string_view> keys, std::span<Answer> answers) override {
    for (size_t i = 0; i < keys.size(); ++i) answers[i] = GetInto(keys[i], &values_[i]);
  }

 private:
  Answer GetInto(std::string_view key, std::string* value) {
    const leveldb::Status status =
        db_->Get(leveldb::ReadOptions(), SliceOf<LevelDbLibrary>(key), value);
    if (status.ok()) return {true, *value};
    if (!status.IsNotFound()) status_ = StatusOf<LevelDbLibrary>(status);
    return {};
  }

  leveldb::DB* const db_;
  std::vector<std::string> values_;
};

class LevelDbStore final : public LevelDbLikeStore<LevelDbLibrary> {
 public:
  using LevelDbLikeStore<LevelDbLibrary>::LevelDbLikeStore;

  static Result<std::unique_ptr<Store>> Open(const StoreSettings& settings,
                                             const std::string& dir) {
    LevelDbLibrary::Held held;
    held.cache.reset(leveldb::NewLRUCache(settings.block_cache_bytes));
    if (settings.bloom_bits > 0)
      held.filter.reset(leveldb::NewBloomFilterPolicy(settings.bloom_bits));
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = settings.write_buffer_bytes;
    options.max_file_size = settings.file_bytes;
    options.max_open_files = settings.open_files;
    options.block_cache = held.cache.get();
    options.filter_policy = held.filter.get();
    options.compression = settings.compression == StoreCompression::kNone
                              ? leveldb::kNoCompression
                              : leveldb::kSnappyCompression;
    leveldb::DB* opened = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, dir, &opened);
    if (!status.ok()) return StatusOf<LevelDbLibrary>(status);
    return std::unique_ptr<Store>(std::make_unique<LevelDbStore>(std::move(held), opened));
  }

  std::unique_ptr<Reader> NewReader() override { return std::make_unique<LevelDbReader>(db()); }
  Status CompactAll() override {
    db()->CompactRange(nullptr, nullptr);
    return Status::Ok();
  }
  StoreFigures Figures() override;
};

StoreFigures LevelDbStore::Figures() {
  StoreFigures figures;
  std::string sstables;
  db()->GetProperty("leveldb.stats", &figures.text);
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
  if (db()->GetProperty("leveldb.sstables", &sstables)) figures.tables = sstables;
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
