// LevelDB's C interface over its C++ one.
#include "leveldb/c.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "leveldb/cache.h"
#include "leveldb/comparator.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/status.h"
#include "leveldb/write_batch.h"

using leveldb::Slice;
using leveldb::Status;

// Every object below is freed by its _destroy (or leveldb_close).
struct leveldb_t {
  std::unique_ptr<leveldb::DB> db;
};
struct leveldb_iterator_t {
  std::unique_ptr<leveldb::Iterator> iterator;
};
struct leveldb_writebatch_t {
  leveldb::WriteBatch batch;
};
struct leveldb_readoptions_t {
  leveldb::ReadOptions options;
};
struct leveldb_writeoptions_t {
  leveldb::WriteOptions options;
};
struct leveldb_options_t {
  leveldb::Options options;
};
struct leveldb_cache_t {
  std::unique_ptr<leveldb::Cache> cache;
};
struct leveldb_logger_t {
  leveldb::Logger* logger;
};
struct leveldb_env_t {
  leveldb::Env* env;  // lives for ever
};

struct leveldb_comparator_t final : leveldb::Comparator {
  ~leveldb_comparator_t() override { destructor(state); }
  int Compare(const Slice& a, const Slice& b) const override {
    return compare(state, a.data(), a.size(), b.data(), b.size());
  }
  const char* Name() const override { return name(state); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  void* state;
  void (*destructor)(void*);
  int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen);
  const char* (*name)(void*);
};

struct leveldb_filterpolicy_t final : leveldb::FilterPolicy {
  ~leveldb_filterpolicy_t() override {
    if (destructor != nullptr) destructor(state);
  }
  const char* Name() const override { return name(state); }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<const char*> starts;
    std::vector<size_t> lengths;
    for (int i = 0; i < n; i++) {
      starts.push_back(keys[i].data());
      lengths.push_back(keys[i].size());
    }
    size_t bytes = 0;
    char* filter = create(state, starts.data(), lengths.data(), n, &bytes);
    dst->append(filter, bytes);
    std::free(filter);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return match(state, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }

  std::unique_ptr<const leveldb::FilterPolicy> bloom;  // ours, in place of the calls below
  void* state = nullptr;
  void (*destructor)(void*) = nullptr;
  const char* (*name)(void*) = nullptr;
  char* (*create)(void*, const char* const* key_array, const size_t* key_length_array, int num_keys,
                  size_t* filter_length) = nullptr;
  uint8_t (*match)(void*, const char* key, size_t length, const char* filter,
                   size_t filter_length) = nullptr;
};

namespace {

char* CopyText(const std::string& text) { return ::strdup(text.c_str()); }

// True, and *errptr as its contract says, where `status` is an error.
bool Failed(const Status& status, char** errptr) {
  if (status.ok()) return false;
  std::free(*errptr);
  *errptr = CopyText(status.ToString());
  return true;
}

}  // namespace

// --- The store ---

leveldb_t* leveldb_open(const leveldb_options_t* options, const char* name, char** errptr) {
  leveldb::DB* db;
  if (Failed(leveldb::DB::Open(options->options, name, &db), errptr)) return nullptr;
  return new leveldb_t{std::unique_ptr<leveldb::DB>(db)};  // freed by leveldb_close
}

void leveldb_close(leveldb_t* db) { delete db; }

void leveldb_put(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key,
                 size_t keylen, const char* val, size_t vallen, char** errptr) {
  Failed(db->db->Put(options->options, Slice(key, keylen), Slice(val, vallen)), errptr);
}

void leveldb_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key,
                    size_t keylen, char** errptr) {
  Failed(db->db->Delete(options->options, Slice(key, keylen)), errptr);
}

void leveldb_write(leveldb_t* db, const leveldb_writeoptions_t* options,
                   leveldb_writebatch_t* batch, char** errptr) {
  Failed(db->db->Write(options->options, batch == nullptr ? nullptr : &batch->batch), errptr);
}

char* leveldb_get(leveldb_t* db, const leveldb_readoptions_t* options, const char* key,
                  size_t keylen, size_t* vallen, char** errptr) {
  *vallen = 0;
  std::string value;
  const Status status = db->db->Get(options->options, Slice(key, keylen), &value);
  if (status.IsNotFound() || Failed(status, errptr)) return nullptr;
  char* copy = static_cast<char*>(std::malloc(value.empty() ? 1 : value.size()));
  std::memcpy(copy, value.data(), value.size());
  *vallen = value.size();
  return copy;
}

leveldb_iterator_t* leveldb_create_iterator(leveldb_t* db, const leveldb_readoptions_t* options) {
  // Freed by leveldb_iter_destroy.
  return new leveldb_iterator_t{
      std::unique_ptr<leveldb::Iterator>(db->db->NewIterator(options->options))};
}

const leveldb_snapshot_t* leveldb_create_snapshot(leveldb_t* db) {
  return reinterpret_cast<const leveldb_snapshot_t*>(db->db->GetSnapshot());
}

void leveldb_release_snapshot(leveldb_t* db, const leveldb_snapshot_t* snapshot) {
  db->db->ReleaseSnapshot(reinterpret_cast<const leveldb::Snapshot*>(snapshot));
}

char* leveldb_property_value(leveldb_t* db, const char* propname) {
  std::string value;
  return db->db->GetProperty(propname, &value) ? CopyText(value) : nullptr;
}

void leveldb_approximate_sizes(leveldb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len,
                               const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes) {
  std::vector<leveldb::Range> ranges;
  for (int i = 0; i < num_ranges; i++) {
    ranges.emplace_back(Slice(range_start_key[i], range_start_key_len[i]),
                        Slice(range_limit_key[i], range_limit_key_len[i]));
  }
  db->db->GetApproximateSizes(ranges.data(), num_ranges, sizes);
}

void leveldb_compact_range(leveldb_t* db, const char* start_key, size_t start_key_len,
                           const char* limit_key, size_t limit_key_len) {
  const Slice start(start_key, start_key_len);
  const Slice limit(limit_key, limit_key_len);
  db->db->CompactRange(start_key == nullptr ? nullptr : &start,
                       limit_key == nullptr ? nullptr : &limit);
}

void leveldb_destroy_db(const leveldb_options_t* options, const char* name, char** errptr) {
  Failed(leveldb::DestroyDB(name, options->options), errptr);
}

void leveldb_repair_db(const leveldb_options_t* options, const char* name, char** errptr) {
  Failed(leveldb::RepairDB(name, options->options), errptr);
}

// --- Iterators ---

void leveldb_iter_destroy(leveldb_iterator_t* it) { delete it; }
uint8_t leveldb_iter_valid(const leveldb_iterator_t* it) { return it->iterator->Valid(); }
void leveldb_iter_seek_to_first(leveldb_iterator_t* it) { it->iterator->SeekToFirst(); }
void leveldb_iter_seek_to_last(leveldb_iterator_t* it) { it->iterator->SeekToLast(); }
void leveldb_iter_seek(leveldb_iterator_t* it, const char* k, size_t klen) {
  it->iterator->Seek(Slice(k, klen));
}
void leveldb_iter_next(leveldb_iterator_t* it) { it->iterator->Next(); }
void leveldb_iter_prev(leveldb_iterator_t* it) { it->iterator->Prev(); }

const char* leveldb_iter_key(const leveldb_iterator_t* it, size_t* klen) {
  const Slice key = it->iterator->key();
  *klen = key.size();
  return key.data();
}

const char* leveldb_iter_value(const leveldb_iterator_t* it, size_t* vlen) {
  const Slice value = it->iterator->value();
  *vlen = value.size();
  return value.data();
}

void leveldb_iter_get_error(const leveldb_iterator_t* it, char** errptr) {
  Failed(it->iterator->status(), errptr);
}

// --- Batches ---

leveldb_writebatch_t* leveldb_writebatch_create() {
  return new leveldb_writebatch_t;  // freed by leveldb_writebatch_destroy
}
void leveldb_writebatch_destroy(leveldb_writebatch_t* b) { delete b; }
void leveldb_writebatch_clear(leveldb_writebatch_t* b) { b->batch.Clear(); }
void leveldb_writebatch_put(leveldb_writebatch_t* b, const char* key, size_t klen, const char* val,
                            size_t vlen) {
  b->batch.Put(Slice(key, klen), Slice(val, vlen));
}
void leveldb_writebatch_delete(leveldb_writebatch_t* b, const char* key, size_t klen) {
  b->batch.Delete(Slice(key, klen));
}

void leveldb_writebatch_iterate(const leveldb_writebatch_t* b, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v,
                                            size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen)) {
  struct Calls final : leveldb::WriteBatch::Handler {
    void Put(const Slice& key, const Slice& value) override {
      put(state, key.data(), key.size(), value.data(), value.size());
    }
    void Delete(const Slice& key) override { deleted(state, key.data(), key.size()); }

    void* state;
    void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen);
    void (*deleted)(void*, const char* k, size_t klen);
  };
  Calls calls;
  calls.state = state;
  calls.put = put;
  calls.deleted = deleted;
  b->batch.Iterate(&calls);  // the call has no way to tell of damage, and the batch is our own
}

void leveldb_writebatch_append(leveldb_writebatch_t* destination,
                               const leveldb_writebatch_t* source) {
  destination->batch.Append(source->batch);
}

// --- Options ---

leveldb_options_t* leveldb_options_create() {
  return new leveldb_options_t;  // freed by leveldb_options_destroy
}
void leveldb_options_destroy(leveldb_options_t* o) { delete o; }

void leveldb_options_set_comparator(leveldb_options_t* o, leveldb_comparator_t* comparator) {
  o->options.comparator = comparator;
}
void leveldb_options_set_filter_policy(leveldb_options_t* o, leveldb_filterpolicy_t* policy) {
  const bool ours = policy != nullptr && policy->bloom != nullptr;
  o->options.filter_policy = ours ? policy->bloom.get() : policy;
}
void leveldb_options_set_create_if_missing(leveldb_options_t* o, uint8_t v) {
  o->options.create_if_missing = v != 0;
}
void leveldb_options_set_error_if_exists(leveldb_options_t* o, uint8_t v) {
  o->options.error_if_exists = v != 0;
}
void leveldb_options_set_paranoid_checks(leveldb_options_t* o, uint8_t v) {
  o->options.paranoid_checks = v != 0;
}
void leveldb_options_set_env(leveldb_options_t* o, leveldb_env_t* env) {
  o->options.env = env == nullptr ? leveldb::Env::Default() : env->env;
}
void leveldb_options_set_info_log(leveldb_options_t* o, leveldb_logger_t* logger) {
  o->options.info_log = logger == nullptr ? nullptr : logger->logger;
}
void leveldb_options_set_write_buffer_size(leveldb_options_t* o, size_t bytes) {
  o->options.write_buffer_size = bytes;
}
void leveldb_options_set_max_open_files(leveldb_options_t* o, int count) {
  o->options.max_open_files = count;
}
void leveldb_options_set_cache(leveldb_options_t* o, leveldb_cache_t* cache) {
  o->options.block_cache = cache == nullptr ? nullptr : cache->cache.get();
}
void leveldb_options_set_block_size(leveldb_options_t* o, size_t bytes) {
  o->options.block_size = bytes;
}
void leveldb_options_set_block_restart_interval(leveldb_options_t* o, int keys) {
  o->options.block_restart_interval = keys;
}
void leveldb_options_set_max_file_size(leveldb_options_t* o, size_t bytes) {
  o->options.max_file_size = bytes;
}
void leveldb_options_set_compression(leveldb_options_t* o, int type) {
  o->options.compression = static_cast<leveldb::CompressionType>(type);
}

// --- Orders and filters of the program's own ---

leveldb_comparator_t* leveldb_comparator_create(void* state, void (*destructor)(void*),
                                                int (*compare)(void*, const char* a, size_t alen,
                                                               const char* b, size_t blen),
                                                const char* (*name)(void*)) {
  auto* comparator = new leveldb_comparator_t;  // freed by leveldb_comparator_destroy
  comparator->state = state;
  comparator->destructor = destructor;
  comparator->compare = compare;
  comparator->name = name;
  return comparator;
}

void leveldb_comparator_destroy(leveldb_comparator_t* comparator) { delete comparator; }

leveldb_filterpolicy_t* leveldb_filterpolicy_create(
    void* state, void (*destructor)(void*),
    char* (*create_filter)(void*, const char* const* key_array, const size_t* key_length_array,
                           int num_keys, size_t* filter_length),
    uint8_t (*key_may_match)(void*, const char* key, size_t length, const char* filter,
                             size_t filter_length),
    const char* (*name)(void*)) {
  auto* policy = new leveldb_filterpolicy_t;  // freed by leveldb_filterpolicy_destroy
  policy->state = state;
  policy->destructor = destructor;
  policy->create = create_filter;
  policy->match = key_may_match;
  policy->name = name;
  return policy;
}

leveldb_filterpolicy_t* leveldb_filterpolicy_create_bloom(int bits_per_key) {
  auto* policy = new leveldb_filterpolicy_t;  // freed by leveldb_filterpolicy_destroy
  policy->bloom.reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  return policy;
}

void leveldb_filterpolicy_destroy(leveldb_filterpolicy_t* policy) { delete policy; }

// --- Options of reads and writes ---

leveldb_readoptions_t* leveldb_readoptions_create() {
  return new leveldb_readoptions_t;  // freed by leveldb_readoptions_destroy
}
void leveldb_readoptions_destroy(leveldb_readoptions_t* o) { delete o; }
void leveldb_readoptions_set_verify_checksums(leveldb_readoptions_t* o, uint8_t v) {
  o->options.verify_checksums = v != 0;
}
void leveldb_readoptions_set_fill_cache(leveldb_readoptions_t* o, uint8_t v) {
  o->options.fill_cache = v != 0;
}
void leveldb_readoptions_set_snapshot(leveldb_readoptions_t* o,
                                      const leveldb_snapshot_t* snapshot) {
  o->options.snapshot = reinterpret_cast<const leveldb::Snapshot*>(snapshot);
}

leveldb_writeoptions_t* leveldb_writeoptions_create() {
  return new leveldb_writeoptions_t;  // freed by leveldb_writeoptions_destroy
}
void leveldb_writeoptions_destroy(leveldb_writeoptions_t* o) { delete o; }
void leveldb_writeoptions_set_sync(leveldb_writeoptions_t* o, uint8_t v) {
  o->options.sync = v != 0;
}

// --- Cache and files ---

leveldb_cache_t* leveldb_cache_create_lru(size_t capacity) {
  // Freed by leveldb_cache_destroy.
  return new leveldb_cache_t{std::unique_ptr<leveldb::Cache>(leveldb::NewLRUCache(capacity))};
}
void leveldb_cache_destroy(leveldb_cache_t* cache) { delete cache; }

leveldb_env_t* leveldb_create_default_env() {
  return new leveldb_env_t{leveldb::Env::Default()};  // freed by leveldb_env_destroy
}
void leveldb_env_destroy(leveldb_env_t* env) { delete env; }

char* leveldb_env_get_test_directory(leveldb_env_t* env) {
  std::string path;
  return env->env->GetTestDirectory(&path).ok() ? CopyText(path) : nullptr;
}

// --- The rest ---

void leveldb_free(void* ptr) { std::free(ptr); }
int leveldb_major_version() { return leveldb::kMajorVersion; }
int leveldb_minor_version() { return leveldb::kMinorVersion; }
