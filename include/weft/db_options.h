// weft/db_options.h: what a durable store may be told. Names and defaults are LevelDB's where
// LevelDB has the option.
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

// The numbers stand in the files.
enum class Compression : uint8_t { kNone = 0, kSnappy = 1, kZstd = 2 };

// Where values say how long they live, so that compactions drop those that have ended. An entry
// that has ended becomes a deletion, which goes where no deeper level may hold its key: an older
// version of the key never comes back. When that happens is not said, and snapshots are not spared
// it: who reads must judge by the same two numbers, and then sees no difference. What was written
// this way LevelDB reads as any other store.
struct ValueLifetime {
  // An entry has ended whose expiry is not 0 and not after `now_s`, or whose generation is below
  // `generation_floor`.
  struct Limits {
    uint32_t now_s = 0;
    uint32_t generation_floor = 0;
  };
  // Where in a value the two numbers stand, 32 bits each, little-endian; below 2^32. Values too
  // short for both never end.
  size_t expiry_offset = 0;
  size_t generation_offset = 0;
  // Asked when a compaction begins, from any thread. What has ended once must have ended for ever.
  std::function<Limits()> limits = {};  // called without a lock: may read the store
};

struct DbOptions {
  const Comparator* comparator = BytewiseComparator();  // must outlive the store, not call it
  bool create_if_missing = false;
  bool error_if_exists = false;
  // Open in spite of damage within a log: what stands behind it is lost then, told to
  // EventListener::OnDamage, and the log kept in `lost`. Else such a store does not open, and the
  // log is copied to `lost`. What a power cut may leave of writes that were
  // not synced is no damage: a torn end, sectors of zeros, a later log that outlived the end of an
  // earlier one. It ends the replay with or without this; what is more than a torn end is told to
  // OnDamage, and the log kept.
  bool ignore_damaged_logs = false;
  // Refuse to open at damage that could be passed over: ignore_damaged_logs counts for nothing, and
  // a table whose filter is damaged is refused.
  bool paranoid_checks = false;
  FileSystem* file_system = PosixFileSystem();  // must outlive the store, not call it
  std::shared_ptr<Logger> info_log;  // null: the file LOG in the store's folder; not to call it

  // Of the memtable, before it is written as a table. Up to 2 MiB more is reserved, not yet used.
  size_t write_buffer_size = 4u << 20;
  int max_open_files = 1000;
  // Open tables keep copies of their indexes and filters, which were checked, instead of using them
  // where they lie in a mapped file: what damages a file while it is open then hides no key.
  bool copy_indexes = false;
  std::shared_ptr<BlockCache> block_cache;  // null: 8 MiB of its own
  size_t block_size = 4096;                 // of keys and values, before compression
  int block_restart_interval = 16;          // keys between two that are written whole
  size_t max_file_size = 2u << 20;          // of a table, after which the next is begun
  Compression compression = Compression::kSnappy;
  int zstd_compression_level = 1;
  bool reuse_logs = false;  // append to the last manifest and log on opening
  std::shared_ptr<const FilterPolicy> filter_policy;  // not to call it

  // Of ours.
  int background_threads = 0;         // that compact; 0: half of the cores, 1 to 4
  int level0_compaction_trigger = 4;  // tables in level 0 from which they are compacted
  int level0_slowdown_trigger = 8;    // from which writes are slowed, more with each further one
  int level0_stop_trigger = 12;       // at which writes wait
  uint64_t level1_bytes_max = 10u << 20;     // each deeper level: ten times the one above it
  uint64_t background_bytes_per_second = 0;  // flushes and compactions together write; 0: no limit
  // A new manifest is begun when the last one is longer, and four times as long as a fresh one.
  size_t max_manifest_file_size = 16u << 20;
  bool seek_compaction = true;    // compact tables that many lookups passed through in vain
  bool verify_compaction = true;  // read outputs back before the manifest names them
  // What merges tables; their bytes are the same. "cpu"; "cuda:N", a GPU of NVIDIA; "auto", a GPU
  // for the jobs that it would do sooner, where one is there; "plain", what a GPU does on the CPU:
  // slow, to test it. Opening gives kUnsupported where the device is not there. A device that fails
  // leaves its job to the CPU (DbStatistics::compactions_left_to_cpu).
  std::string compaction_device = "cpu";
  // Compactions read and write tables past the system's page cache, where the file system can
  // (FileSystem::Direct): they push nothing out of that cache; but what they wrote is not in it
  // when it is read next, and merging on the CPU waits for the disk. Made for devices: a GPU reads
  // and writes uncompressed tables by itself where GPUDirect Storage is installed.
  bool compaction_direct_io = false;
  std::vector<std::shared_ptr<EventListener>> listeners;
  std::optional<ValueLifetime> lifetime;  // none: values live until they are deleted
};

class Snapshot;

struct ReadOptions {
  bool verify_checksums = false;  // of every block read
  bool fill_cache = true;
  // Of MultiGet: once the values found take so many bytes, the lookups that have no answer yet get
  // kRetryLater, but for the first one, which always gets its own. What is read for lookups that
  // are under way together is bounded as well. 0: no limit.
  size_t value_bytes_max = 0;
  const Snapshot* snapshot = nullptr;  // null: the state at the time of the call
  // For iterators: keys outside [lower_bound, upper_bound) are not there. Not copied: must live as
  // long as the iterator.
  std::optional<std::string_view> lower_bound = {};
  std::optional<std::string_view> upper_bound = {};
};

struct CompactRangeOptions {
  // Writes every table of the deepest level anew that nothing was merged into. Without it, as in
  // LevelDB, deletions and superseded entries may stay there: those that a snapshot saw when they
  // came, or that came in a table that was flushed or moved to that level.
  bool rewrite_deepest = true;
};

struct WriteOptions {
  // False: an acknowledged write survives the end of the process, not a power cut.
  bool sync = false;
};

}  // namespace weft
