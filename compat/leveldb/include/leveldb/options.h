// compat/leveldb/include/leveldb/options.h: the options of a store, a read and a write.
//
// Nothing pointed to is owned: it must outlive the store.
#pragma once

#include <cstddef>

#include "leveldb/export.h"

namespace leveldb {

class Cache;
class Comparator;
class Env;
class FilterPolicy;
class Logger;
class Snapshot;

// Part of the file format. Any number fits the type, because the C interface takes any.
enum CompressionType : unsigned { kNoCompression = 0x0, kSnappyCompression = 0x1 };

struct LEVELDB_EXPORT Options {
  Options();

  // --- What the store does ---
  const Comparator* comparator;  // default: BytewiseComparator(). The same for every open
  bool create_if_missing = false;
  bool error_if_exists = false;
  bool paranoid_checks = false;  // stop at damage that could be passed over
  Env* env;                      // default: Env::Default()
  Logger* info_log = nullptr;    // null: the file LOG in the store's folder

  // --- How fast, and in how much room; in bytes, unless it says otherwise ---
  size_t write_buffer_size = 4 * 1024 * 1024;  // of writes kept in memory until they become a table
  int max_open_files = 1000;
  Cache* block_cache = nullptr;            // null: the store makes one of 8 MiB
  size_t block_size = 4 * 1024;            // before compression: of keys and values
  int block_restart_interval = 16;         // keys between two that are stored whole
  size_t max_file_size = 2 * 1024 * 1024;  // of a table; then the next is begun
  CompressionType compression = kSnappyCompression;
  bool reuse_logs = false;                      // append to the last manifest and log on opening
  const FilterPolicy* filter_policy = nullptr;  // null: no filters
};

struct LEVELDB_EXPORT ReadOptions {
  ReadOptions() = default;

  bool verify_checksums = false;  // of every block read
  bool fill_cache = true;
  const Snapshot* snapshot = nullptr;  // null: the state at the time of the call
};

struct LEVELDB_EXPORT WriteOptions {
  WriteOptions() = default;

  // False: an acknowledged write survives the end of the process, but not a power cut.
  bool sync = false;
};

}  // namespace leveldb
