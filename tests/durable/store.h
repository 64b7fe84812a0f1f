// tests/durable/store.h: a durable store as the tests see it: Weft's, or LevelDB's behind the same
// calls.
//
// LevelDB is here for two things: to read and change what Weft wrote, and to show on a store that
// is known to work that a test is right.
//
// Threads   as the store behind it: every call of a Store at once, except its end.
// Errors    kUnsupported for what LevelDB lacks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/comparator.h"
#include "weft/db_options.h"
#include "weft/file_system.h"
#include "weft/iterator.h"
#include "weft/status.h"

namespace weft::durable {

struct Change {
  std::string key;
  std::optional<std::string> value;  // none: delete
};
using Batch = std::vector<Change>;

// Options. The first group is known to both stores.
struct Shape {
  bool create = true;
  bool paranoid = false;
  FileSystem* files = nullptr;             // null: the system's
  const Comparator* comparator = nullptr;  // null: bytewise
  size_t write_buffer_bytes = 4u << 20;
  int open_files_max = 1000;
  size_t cache_bytes = 8u << 20;
  size_t block_bytes = 4096;
  int restart_interval = 16;
  size_t file_bytes_max = 2u << 20;
  Compression compression = Compression::kSnappy;
  bool reuse_logs = false;
  int bloom_bits = 0;  // 0: no filter

  // Weft's alone.
  int threads = 0;
  int level0_trigger = 4;
  uint64_t level1_bytes_max = 10u << 20;
  uint64_t background_bytes_per_second = 0;
  bool seek_compaction = true;
  bool verify_compaction = true;
  std::string compaction_device = "cpu";  // DrawShape: $WEFT_COMPACTION_DEVICE if that is set
  bool compaction_direct_io = false;

  std::string ToString() const;
};

struct View {
  bool verify = true;  // checksums
  bool fill_cache = true;
  const void* snapshot = nullptr;
  std::optional<std::string_view> lower = {};  // of iterators
  std::optional<std::string_view> upper = {};
};

struct Lookup {
  std::string key;
  std::string value;
  Status status;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Status Write(const Batch& batch, bool sync) = 0;
  // By the call for a single change, if it is one.
  virtual Status WriteOne(const Change& change, bool sync) = 0;
  virtual Status Get(const View& view, std::string_view key, std::string* value) = 0;
  virtual void MultiGet(const View& view, std::span<Lookup> lookups) = 0;
  virtual std::unique_ptr<Iterator> NewIterator(const View& view) = 0;
  virtual const void* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const void* snapshot) = 0;
  virtual Status CompactRange(const std::string_view* begin, const std::string_view* end) = 0;
  virtual Status Flush() = 0;
  virtual Status Checkpoint(const std::string& dir) = 0;
  // Writes the entries, which are in order, as a table at `path` and ingests that.
  virtual Status Ingest(std::span<const std::pair<std::string, std::string>> entries,
                        const std::string& path, bool move) = 0;
  // The text of leveldb.NAME, or nothing.
  virtual std::string Property(std::string_view name) = 0;
  virtual uint64_t ApproximateBytes(std::string_view start, std::string_view limit) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const char* Name() const = 0;
  virtual Result<std::unique_ptr<Store>> Open(const Shape& shape, const std::string& dir) = 0;
  virtual Result<std::unique_ptr<Store>> OpenReadOnly(const Shape& shape,
                                                      const std::string& dir) = 0;
  virtual Status Repair(const Shape& shape, const std::string& dir) = 0;
  virtual Status Destroy(const Shape& shape, const std::string& dir) = 0;
};

// Null if it was not built in. They live forever.
Engine* WeftEngine();
Engine* LevelDbEngine();
// Ends the program if there is none of that name.
Engine* EngineNamed(std::string_view name);

// Opens the store; ends the program if that fails.
std::unique_ptr<Store> MustOpen(Engine* engine, const Shape& shape, const std::string& dir);

// What a store should hold.
struct KeyLess {
  const Comparator* comparator = nullptr;
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return comparator == nullptr ? a < b : comparator->Compare(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, KeyLess>;
void Apply(const Batch& batch, Model* model);

// Shorter keys first, then by bytes: an order in which the separators of the bytewise order are
// wrong. Lives forever.
const Comparator* LengthFirstComparator();

// Random options; small values, which make much happen, are likely. Options that are part of the
// format of `dir` (the comparator) stay.
class Random;
void DrawShape(class Random* random, bool for_leveldb_too, Shape* shape);

// Reads everything with an iterator, forwards or backwards. Returns the iterator's status.
Status ReadAll(Store* store, const View& view, bool forwards,
               std::vector<std::pair<std::string, std::string>>* entries);
// Where they differ, or nothing: the first different key, with both sides.
std::string Difference(const Model& expected,
                       const std::vector<std::pair<std::string, std::string>>& found);
// Fails unless the store holds `expected`: by iteration both ways, gets of all keys (of some, if
// there are many) and of absent ones.
void CheckAll(Store* store, const View& view, const Model& expected, class Random* random,
              const std::string& when);

}  // namespace weft::durable
