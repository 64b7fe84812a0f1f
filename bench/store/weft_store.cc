#include "bench/store/store.h"
#include "weft/db.h"

namespace weft::bench::store_internal {
namespace {

class WeftReader final : public Reader {
 public:
  explicit WeftReader(Db* db) : db_(db), lookups_(kMultiGetMax) {}

  Answer Get(std::string_view key) override {
    DbLookup& lookup = lookups_[0];
    lookup.status = db_->Get({}, key, &lookup.value);
    return AnswerOf(lookup);
  }
  void MultiGet(std::span<const std::string_view> keys, std::span<Answer> answers) override {
    for (size_t i = 0; i < keys.size(); ++i) lookups_[i].key = keys[i];
    db_->MultiGet({}, std::span(lookups_.data(), keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) answers[i] = AnswerOf(lookups_[i]);
  }

 private:
  Answer AnswerOf(const DbLookup& lookup) {
    if (lookup.status.ok()) return {true, lookup.value};
    if (lookup.status.code() != Code::kNotFound) status_ = lookup.status;
    return {};
  }

  Db* const db_;
  std::vector<DbLookup> lookups_;
};

class WeftCursor final : public Cursor {
 public:
  explicit WeftCursor(std::unique_ptr<Iterator> iterator) : iterator_(std::move(iterator)) {}

  void SeekToFirst() override { iterator_->SeekToFirst(); }
  void SeekToLast() override { iterator_->SeekToLast(); }
  void Seek(std::string_view key) override { iterator_->Seek(key); }
  bool Valid() const override { return iterator_->Valid(); }
  void Next() override { iterator_->Next(); }
  void Prev() override { iterator_->Prev(); }
  std::string_view Key() const override { return iterator_->key(); }
  std::string_view Value() const override { return iterator_->value(); }
  Status status() const override { return iterator_->status(); }

 private:
  const std::unique_ptr<Iterator> iterator_;
};

class WeftStore final : public Store {
 public:
  explicit WeftStore(std::unique_ptr<Db> db) : db_(std::move(db)) {}

  Status Put(std::string_view key, std::string_view value, bool sync) override {
    return db_->Put({.sync = sync}, key, value);
  }
  Status Delete(std::string_view key, bool sync) override {
    return db_->Delete({.sync = sync}, key);
  }
  std::unique_ptr<Reader> NewReader() override { return std::make_unique<WeftReader>(db_.get()); }
  std::unique_ptr<Cursor> NewCursor() override {
    return std::make_unique<WeftCursor>(db_->NewIterator({}));
  }
  Status CompactAll() override { return db_->CompactRange(nullptr, nullptr); }
  StoreFigures Figures() override {
    const DbStatistics statistics = db_->Statistics();
    StoreFigures figures;
    figures.table_bytes_written =
        static_cast<double>(statistics.flush_bytes + statistics.compaction_bytes_written);
    figures.compaction_bytes_read = static_cast<double>(statistics.compaction_bytes_read);
    figures.writers_waited_us = static_cast<double>(statistics.slowdown_us + statistics.stop_us);
    figures.compactions_by_device = statistics.compactions_by_device;
    figures.compactions_left_to_cpu = statistics.compactions_left_to_cpu;
    db_->GetProperty("weft.statistics", &figures.text);
    return figures;
  }

 private:
  const std::unique_ptr<Db> db_;
};

DbOptions WeftOptions(const StoreSettings& settings) {
  DbOptions options;
  options.create_if_missing = true;
  options.write_buffer_size = settings.write_buffer_bytes;
  options.max_file_size = settings.file_bytes;
  options.max_open_files = settings.open_files;
  options.block_cache = NewLruBlockCache(settings.block_cache_bytes);
  if (settings.bloom_bits > 0) options.filter_policy = NewBloomFilterPolicy(settings.bloom_bits);
  options.compression =
      settings.compression == StoreCompression::kNone ? Compression::kNone : Compression::kSnappy;
  options.background_threads = settings.background_threads;
  options.level1_bytes_max = settings.level1_bytes;
  options.verify_compaction = settings.verify_compaction;
  options.compaction_device = settings.compaction_device;
  return options;
}

}  // namespace

Result<std::unique_ptr<Store>> OpenWeft(const StoreSettings& settings, const std::string& dir) {
  auto db = Db::Open(WeftOptions(settings), dir);
  if (!db) return db.error();
  return std::unique_ptr<Store>(std::make_unique<WeftStore>(std::move(*db)));
}

}  // namespace weft::bench::store_internal
