// processor/cuda/table_scene_test_kit.h: a small table and random batches against it, in host
// memory, for tests of the tuned tasks: built and checked here, run on fibers or, copied there, on
// a device.
//
// A model (a map of keys to values) says what each query must answer.
// Threads: one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "processor/cuda/table_job.h"

namespace weft::processor {

// Arrays start at a multiple of 64, as device memory does and buckets must.
template <typename T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <typename U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT: as the standard asks
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* at, size_t) { ::operator delete(at, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
  static constexpr std::align_val_t kLine{64};
};
template <typename T>
using Lines = std::vector<T, LineAllocator<T>>;

// What a scene draws from. Keys of `key_bytes`, or of 1 to 250 where it is 0.
struct SceneShape {
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;  // of all; 0: various, up to value_bytes_max
  uint32_t value_bytes_max = 700;
  uint32_t keys = 300;  // different ones that queries draw from
  uint64_t buckets = 64;
  uint32_t hash_bits = 64;  // fewer: weak hashes, with common tags and buckets
  uint32_t log_align = 1;   // units
  uint64_t log_bytes = 4 << 20;
  bool packed = false;  // records packed rather than at a stride
  bool expiries = false;
  bool repeats = false;  // a key may be stored several times in a batch
  bool notes = false;
  uint32_t policy = kPolicyCuckoo;
  // Entries of longer keys that begin like one that is asked for and have its hash.
  uint32_t strangers = 0;
};

// One array of a scene that a job points at, and what points the job at another place.
struct SceneArray {
  void* data;
  size_t bytes;
  std::function<void(void*)> set;
};

class Scene {
 public:
  Scene(const SceneShape& shape, std::mt19937_64& random);

  // Draws a batch of `count` queries, kRun... `tasks` saying which kinds.
  void Draw(uint32_t count, uint32_t tasks, uint32_t now_s);

  // The job of the batch drawn, on this scene's own arrays, and those arrays.
  TableJob Job();
  std::vector<SceneArray> Arrays(TableJob& job);
  // The same batch as the single-source tasks take it. Lays out the objects to store.
  task::QueryJob PlainJob();
  std::vector<SceneArray> PlainArrays(task::QueryJob& job);

  // What the answers say, against the model, which then takes up what was stored and deleted.
  // Empty: all is right.
  std::string Check(bool plain);
  // The table against the model: each key once, nothing else, no unfinished entry.
  std::string CheckTable() const;

  // Changes the state of every entry; afterwards searches see them or do not.
  void SetStates(uint64_t state);

  uint64_t stored() const { return model_.size(); }
  uint32_t hits() const { return hits_; }
  uint32_t refused() const { return refused_; }    // stores without room
  uint32_t finished() const { return finished_; }  // stores that took the second pass

 private:
  struct Item {
    std::string value;
    uint32_t expiry = 0;
    bool operator==(const Item&) const = default;
  };

  uint64_t HashOf(const std::string& key) const;
  void AddQuery(uint32_t i, uint32_t wanted, uint32_t key);
  void AddStranger(uint32_t number);
  std::string CheckRead(uint32_t i, bool plain) const;
  std::string KeyOfQuery(uint32_t i) const { return keys_known_[key_of_[i]]; }

  const SceneShape shape_;
  std::mt19937_64& random_;
  std::vector<std::string> keys_known_;
  std::map<std::string, Item> model_;
  bool visible_ = true;
  uint32_t hits_ = 0, refused_ = 0, finished_ = 0;

  // The table.
  Lines<task::Bucket> buckets_;
  Lines<uint32_t> moves_;
  Lines<uint64_t> log_, bases_, log_next_;
  // The batch.
  uint32_t count_ = 0, tasks_ = 0, now_s_ = 0, dice_ = 0, read_bytes_ = 0;
  std::vector<uint32_t> key_of_;
  std::vector<Item> item_of_;
  Lines<uint64_t> hash_;
  Lines<uint8_t> keys_, key_bytes_, wanted_, store_values_, result_;
  Lines<uint32_t> key_at_, store_at_, store_bytes_, store_expiry_, value_at_, pending_, used_;
  Lines<uint64_t> word_, position_, placed_, values_, values_used_, pending_count_;
};

// Runs the batch of a scene and brings its arrays up to date.
using SceneRunner = std::function<void(Scene&, bool plain)>;

// Rounds of random batches of every kind on a table of this shape, tuned and plain by turns: what a
// test of a runner does. Empty: all was right.
std::string PlayScene(const SceneShape& shape, uint32_t batches, std::mt19937_64& random,
                      const SceneRunner& run);

// Shapes worth playing: each key length with a path of its own, alignments, weak hashes, a table
// nearly full. `scale`: of the number of keys.
std::vector<SceneShape> SceneShapes(uint32_t scale);

}  // namespace weft::processor
