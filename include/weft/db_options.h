// weft/db_options.h: the options of a durable store. Names and defaults are LevelDB's where LevelDB
// has the option.
//
// Units     bytes, unless the name says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block_cache.h"
#include "weft/comparator.h"
#include "weft/db_events.h"
#include "weft/file_system.h"
#include "weft/filter_policy.h"
#include "weft/logger.h"

namespace weft {

// The numbers are part of the file format.
enum class Compression : uint8_t { kNone = 0, kSnappy = 1, kZstd = 2 };

// Says where values hold their lifetime, so that compactions drop entries that have ended. Such an
// entry becomes a deletion, which goes once no deeper level can hold its key: an older version of
// the key never comes back. The store does not say when that happens, and snapshots do not prevent
// it. So readers must judge by the same two numbers; then they see no difference. LevelDB reads
// such a store like any other.
struct ValueLifetime {
  // An entry has ended if its expiry is not 0 and not after `now_s`, or if its generation is below
  // `generation_floor`.
  struct Limits {
    uint32_t now_s = 0;
    uint32_t generation_floor = 0;
  };
  // Where in a value the two numbers lie, 32 bits each, little-endian; below 2^32. Values too short
  // for both never end.
  size_t expiry_offset = 0;
  size_t generation_offset = 0;
  // Asked when a compaction begins, from any thread. An entry that has ended must stay ended.
  std::function<Limits()> limits = {};  // called without a lock: may read the store
};

struct DbOptions {
  const Comparator* comparator = BytewiseComparator();  // must outlive the store and not call it
  bool create_if_missing = false;
  bool error_if_exists = false;
  // Open in spite of damage within a log: what lies behind the damage is lost,
  // EventListener::OnDamage reports it, and the log is kept in `lost`. Otherwise such a store does
  // not open, and the log is copied to `lost`. What a power cut may leave of writes that were not
  // synced is not damage: a torn end, sectors of zeros, a later log that outlived the end of an
  // earlier one. It ends the replay with or without this option; if it is more than a torn end,
  // OnDamage reports it, and the log is kept.
  bool ignore_damaged_logs = false;
  // Refuse to open at damage that could be passed over: ignore_damaged_logs has no effect, and a
  // table whose filter is damaged is refused.
  bool paranoid_checks = false;
  FileSystem* file_system = PosixFileSystem();  // must outlive the store and not call it
  // Must not call the store. Null: the file LOG in the store's folder.
  std::shared_ptr<Logger> info_log = {};

  // Of the memtable, before it is written as a table. Up to 2 MiB more is reserved but unused.
  size_t write_buffer_size = 4u << 20;
  int max_open_files = 1000;
  // Open tables keep checked copies of their indexes and filters, instead of using them in place in
  // a mapped file. Damage to a file while it is open then hides no key.
  bool copy_indexes = false;
  std::shared_ptr<BlockCache> block_cache = {};  // null: the store makes one of 8 MiB
  size_t block_size = 4096;                      // before compression: of keys and values
  int block_restart_interval = 16;               // keys between two that are stored whole
  size_t max_file_size = 2u << 20;               // of a table; then the next is begun
  Compression compression = Compression::kSnappy;
  int zstd_compression_level = 1;
  bool reuse_logs = false;  // append to the last manifest and log on opening
  // Null: tables have no filters. NewBloomFilterPolicy(10) is usual. It must not call the store.
  std::shared_ptr<const FilterPolicy> filter_policy = {};

  // Weft's own.
  int background_threads = 0;         // that compact; 0: half of the cores, 1 to 4
  int level0_compaction_trigger = 4;  // tables in level 0 at which they are compacted
  int level0_slowdown_trigger = 8;    // at which writes are slowed: more so with each further one
  int level0_stop_trigger = 12;       // at which writes wait
  uint64_t level1_bytes_max = 10u << 20;     // each deeper level: ten times the one above it
  uint64_t background_bytes_per_second = 0;  // of flushes and compactions together; 0: no limit
  // A new manifest is begun when the last is longer than this and than four times a fresh one.
  size_t max_manifest_file_size = 16u << 20;
  bool seek_compaction = true;    // compact tables that many lookups passed through in vain
  bool verify_compaction = true;  // read outputs back before the manifest names them
  // Which processor merges tables; their bytes are the same. "cpu"; "cuda:N", an NVIDIA GPU;
  // "auto", a GPU, if there is one, for the jobs that it would finish sooner; "plain", a GPU's
  // steps on the CPU: slow, for tests. Opening gives kUnsupported if the device is missing. If a
  // device fails, the CPU does the job (DbStatistics::compactions_left_to_cpu).
  std::string compaction_device = "cpu";
  // Compactions bypass the system's page cache where the file system can (FileSystem::Direct). They
  // push nothing out of that cache; but the next read does not find what they wrote in it, and
  // merging on the CPU waits for the disk. Meant for devices: a GPU reads and writes uncompressed
  // tables by itself where GPUDirect Storage is installed.
  bool compaction_direct_io = false;
  std::vector<std::shared_ptr<EventListener>> listeners = {};
  std::optional<ValueLifetime> lifetime = {};  // none: values live until they are deleted
};

class Snapshot;

struct ReadOptions {
  bool verify_checksums = false;  // of every block read
  bool fill_cache = true;
  // Of MultiGet: once the values found take this many bytes, lookups without an answer yet get
  // kRetryLater, except the first lookup, which is always answered. Data read for lookups in
  // progress together is bounded as well. 0: no limit.
  size_t value_bytes_max = 0;
  const Snapshot* snapshot = nullptr;  // null: the state at the time of the call
  // For iterators: keys outside [lower_bound, upper_bound) are not there. The bounds are not
  // copied: they must live as long as the iterator.
  std::optional<std::string_view> lower_bound = {};
  std::optional<std::string_view> upper_bound = {};
};

struct CompactRangeOptions {
  // Also rewrites every table of the deepest level that nothing was merged into. Without it, as in
  // LevelDB, deletions and superseded entries may stay there: those that a snapshot saw when they
  // came, or that came in a table that was flushed or moved to that level.
  bool rewrite_deepest = true;
};

struct WriteOptions {
  // False: an acknowledged write survives the end of the process, but not a power cut.
  bool sync = false;
};

}  // namespace weft
