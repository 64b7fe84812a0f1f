// processor/cuda/stage_scene_test_kit.h: a small mirror and partly done batches, in host memory,
// for tests of the tuned tasks as stages of a plan. They are drawn and checked here, and run on
// fibers or, copied there, on a device.
//
// The mirror lacks parts of its log. Each column's answer must equal that of the single-source
// tasks (task::RunQuery) on a copy.
// Threads: one.
#pragma once

#include "processor/cuda/table_scene_test_kit.h"

namespace weft::processor {

struct StageShape {
  uint32_t key_bytes = 0;      // 0: of 1 to 250 bytes, with key_at and key_bytes
  uint32_t value_bytes = 0;    // 0: various
  bool mirrored = true;        // false: the store itself, all of it there
  bool stride = false;         // records at a stride rather than packed
  uint32_t batches = 1;        // of a group
  uint32_t queries_max = 200;  // of a batch
};

class StageScene {
 public:
  StageScene(const StageShape& shape, std::mt19937_64& random);

  // Draws the batches of a group, for a stage of kRun... `tasks`.
  void Draw(uint32_t tasks);
  // The jobs of the drawn batches, on this scene's own arrays, and those arrays: of the mirror, and
  // of the batches alone.
  std::vector<TableJob> Jobs();
  std::vector<SceneArray> MirrorArrays(std::vector<TableJob>& jobs);
  std::vector<SceneArray> ColumnArrays(std::vector<TableJob>& jobs);

  // Compares the answers with the single-source tasks'. Empty: all are right.
  std::string Check();
  // By result: how many queries of the last Check had it.
  const std::vector<uint32_t>& seen() const { return seen_; }
  uint32_t noted() const { return noted_; }  // reads with kValueNoteBit

 private:
  struct Batch {
    Lines<uint64_t> hash, word, position, values, used;
    Lines<uint32_t> key_at, value_at;
    Lines<uint8_t> keys, key_bytes, wanted, result;
    uint32_t again = 0, dice = 0;
    bool sparse = false;  // TableJob::sparse_entries
  };

  void AddObject(const std::string& key, uint64_t hash);
  void MarkResident();
  void DrawQuery(Batch& batch, uint32_t i);
  uint8_t ResultOf(uint32_t wanted);
  void DrawEntry(Batch& batch, uint32_t i);
  TableJob JobOf(Batch& batch);
  task::QueryJob PlainJobOf(Batch& batch, Lines<task::Bucket>& buckets, Lines<uint64_t>& log);
  static bool IsLeftOut(const Batch& batch, uint32_t i);
  std::string CheckBatch(const Batch& tuned, const Batch& plain) const;
  uint64_t ValueStart(const Batch& batch, uint32_t i, bool tuned) const;

  const StageShape shape_;
  std::mt19937_64& random_;
  uint32_t tasks_ = 0;
  std::vector<std::string> keys_known_;
  std::vector<uint64_t> hashes_;  // of those
  std::vector<uint64_t> starts_;  // of the objects
  std::vector<uint32_t> seen_;
  uint32_t noted_ = 0;
  uint32_t record_units_ = 0;  // of the longest
  Lines<task::Bucket> buckets_;
  Lines<uint32_t> moves_, resident_, uses_;
  Lines<uint64_t> log_, bases_;
  std::vector<Batch> batches_, before_;
  Lines<task::Bucket> buckets_before_;
  Lines<uint64_t> log_before_;
};

// Runs the jobs that a scene drew and brings its arrays up to date.
using StageRunner = std::function<void(StageScene&)>;

// A group of batches of up to `queries_max` for every shape and stage. Empty: all was right, and
// every answer occurred.
std::string PlayStages(std::mt19937_64& random, uint32_t queries_max, const StageRunner& run);

}  // namespace weft::processor
