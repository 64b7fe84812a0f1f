// bench/store/store.h: an embedded ordered key-value store under measurement, whoever made it.
//
// It has what the benchmarks need of a store and no more, so that every store runs the same loops.
// Each store has one file that implements it; a store whose library is not installed is left out of
// the build, and OpenStore says so.
//
// Threads   Store: any number at once, except for the destructor. Reader and Cursor: one thread
//           each; both must be gone before their store.
// Errors    status() of a Reader or Cursor reports a failed read, and keeps reporting it.
// Cost      one virtual call an operation, the same for every store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

enum class StoreCompression : uint8_t { kNone, kSnappy };
const char* NameOf(StoreCompression compression);

// The same for every store, as far as it has the option.
struct StoreSettings {
  std::string name = "common";
  StoreCompression compression = StoreCompression::kNone;
  uint64_t write_buffer_bytes = 64u << 20;
  uint64_t file_bytes = 64u << 20;  // of a table
  uint64_t block_cache_bytes = 128u << 20;
  int bloom_bits = 10;  // a key; 0: no filter
  int open_files = 5000;
  uint64_t level1_bytes = 10u << 20;           // LevelDB has no other
  uint64_t rocksdb_level1_bytes = 256u << 20;  // what RocksDB's own defaults have
  int background_threads = 1;                  // that compact; flushes may have another
  bool verify_compaction = true;               // read compacted tables back, where a store can
  bool automatic_compaction = true;            // false: RocksDB only
  std::string compaction_device = "cpu";       // weft only
};

// What a store reports of its background work since it was opened. Every store has the first two.
struct StoreFigures {
  double table_bytes_written = 0;  // flushes and compactions
  double compaction_bytes_read = 0;
  std::optional<double> writers_waited_us;  // slowed down or stopped, where the store counts it
  uint64_t compactions_by_device = 0;       // weft: not by the CPU
  uint64_t compactions_left_to_cpu = 0;     // weft: by a device
  std::string text;                         // its own words
  std::string tables;                       // LevelDB: its tables level by level, a line each
};

struct Answer {
  bool found = false;
  std::string_view value;  // valid until the reader's next call
};

class Reader {
 public:
  virtual ~Reader() = default;
  virtual Answer Get(std::string_view key) = 0;
  // Stores without such a call look the keys up one by one. REQUIRES: keys.size() ==
  // answers.size() <= kMultiGetMax
  virtual void MultiGet(std::span<const std::string_view> keys, std::span<Answer> answers) = 0;
  const Status& status() const { return status_; }

  static constexpr size_t kMultiGetMax = 256;

 protected:
  Status status_;
};

class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(std::string_view key) = 0;
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual std::string_view Key() const = 0;
  virtual std::string_view Value() const = 0;
  virtual Status status() const = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual Status Put(std::string_view key, std::string_view value, bool sync) = 0;
  // OK even if there is no such key.
  virtual Status Delete(std::string_view key, bool sync) = 0;
  virtual std::unique_ptr<Reader> NewReader() = 0;
  virtual std::unique_ptr<Cursor> NewCursor() = 0;
  // Compacts all keys and waits.
  virtual Status CompactAll() = 0;
  virtual StoreFigures Figures() = 0;
};

// "weft", "leveldb", "rocksdb": all that exist.
const std::vector<std::string>& StoreNames();
// Its name in a report: "weft", "LevelDB 1.23".
std::string StoreTitle(const std::string& name);
// Whether it heeds StoreSettings::background_threads.
bool HasBackgroundThreads(const std::string& name);
// Why it can't be measured here; empty if it can.
std::string WhyUnavailable(const std::string& name);
// Opens it in `dir`, which is made if it is missing.
Result<std::unique_ptr<Store>> OpenStore(const std::string& name, const StoreSettings& settings,
                                         const std::string& dir);

namespace store_internal {
Result<std::unique_ptr<Store>> OpenWeft(const StoreSettings& settings, const std::string& dir);
Result<std::unique_ptr<Store>> OpenLevelDb(const StoreSettings& settings, const std::string& dir);
Result<std::unique_ptr<Store>> OpenRocksDb(const StoreSettings& settings, const std::string& dir);
std::string LevelDbTitle();
std::string RocksDbTitle();
}  // namespace store_internal

}  // namespace weft::bench
