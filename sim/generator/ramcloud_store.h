// sim/generator/ramcloud_store.h: a store in RAMCloud's layout, whose keys are numbers: which
// bucket and entry each key has, and where in the log its object is.
//
//     0        table_limit         log_base             log_limit
//     | buckets | overflow buckets  | objects, room to append | 256 KiB a core: its own data |
//
// Keys are inserted by number. The sizes' classes are spread over them at random, so that the
// objects of a bucket, and of a class, are strangers in memory. A key's bucket and tag come from a
// hash of it and the seed; with Utilization::kExact the buckets are dealt out instead, at random.
//
// An insertion takes the bucket's first free entry. If there is none, the last one becomes a
// pointer to an overflow bucket, whose first one takes what was there. So of n objects of a bucket,
// each line but the last has seven.
//
// Units     bytes; addresses as in record.h. A line is a bucket by number, overflow ones after the
//           others.
// Threads   one owner.
// Cost      16 bytes a key, 4 a bucket; 10 M keys take about 2 s.
// Errors    kInvalidArgument: the options ask for what isn't possible.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/generator/key_popularity.h"
#include "sim/generator/mix.h"
#include "sim/generator/ramcloud_format.h"
#include "sim/generator/utilization.h"
#include "sim/trace/table_image.h"
#include "sim/trace/trace_source.h"

namespace weft::sim {

inline constexpr uint64_t kBucketsMax = uint64_t{1} << 28;
inline constexpr int kCoresMax = 64;
inline constexpr int kGeneratedValueBytesMax = 4096;  // a record's dep reaches so far
inline constexpr uint64_t kOwnDataBytes = 256 << 10;  // of a core

struct StoreOptions {
  int cores = 8;
  uint64_t seed = 1;
  Mix mix = Mix::Find("1").value();
  KeyPopularity popularity{};
  Utilization utilization{};
  uint64_t buckets = uint64_t{1} << 20;
  uint64_t log_bytes = uint64_t{1} << 30;  // that objects fill first, if it is kNatural
  uint64_t memory_bytes = uint64_t{16} << 30;
  int key_bytes = 23;
  int64_t puts_max = 0;  // of a core: the log has room for them, if the memory has
};

class RamcloudStore {
 public:
  static Result<std::unique_ptr<RamcloudStore>> Build(const StoreOptions& options);

  const StoreShape& shape() const { return shape_; }
  const StoreOptions& options() const { return options_; }
  uint64_t keys() const { return objects_.size(); }
  uint64_t KeysOf(size_t cls) const { return class_begin_[cls + 1] - class_begin_[cls]; }
  // Rank 0 is the most popular. REQUIRES: rank < KeysOf(cls)
  uint32_t KeyOfRank(size_t cls, uint64_t rank) const { return by_rank_[class_begin_[cls] + rank]; }

  struct Place {
    uint32_t line = 0;
    uint8_t slot = 0;
    uint8_t cls = 0;
    uint16_t tag = 0;
    uint64_t addr = 0;  // of the log entry
  };
  // REQUIRES (all): key < keys()
  Place Find(uint32_t key) const;
  // Appends the key's object anew, where `core` appends. None: the log is full.
  std::optional<uint64_t> Put(int core, uint32_t key);

  bool IsOverflow(uint32_t line) const { return line >= shape_.buckets; }
  uint64_t AddressOf(uint32_t line) const { return shape_.table_base + kBucketBytes * line; }
  // The lines that a lookup of what is in `line` reads, the bucket first.
  void PathTo(uint32_t line, std::vector<uint32_t>* path) const;
  uint64_t own_data(int core) const {
    return shape_.log_limit + kOwnDataBytes * static_cast<uint64_t>(core);
  }
  uint32_t EntryBytesOf(size_t cls) const {
    return EntryBytes(options_.key_bytes, options_.mix.sizes()[cls].value_bytes);
  }

  // The table before the first put.
  TableImage InitialTable() const;

 private:
  // Of an object: 40 bits of offset in the log, 4 of class, 3 of slot.
  using PackedObject = uint64_t;
  static constexpr int kClassShift = 40;
  static constexpr int kSlotShift = 44;

  explicit RamcloudStore(const StoreOptions& options) : options_(options) {}
  Status CountKeys();
  void DealClasses();
  void DealBuckets();
  void PlaceInBuckets();
  Status PlaceInLog();
  uint64_t AppendedBytesMax() const;

  uint64_t HashOf(uint32_t key) const;
  size_t ClassOf(uint32_t key) const { return objects_[key] >> kClassShift & 15; }

  StoreOptions options_;
  StoreShape shape_;
  std::vector<PackedObject> objects_;  // by key
  std::vector<uint32_t> lines_;        // by key
  std::vector<uint32_t> by_rank_;      // keys, class after class
  std::vector<uint64_t> class_begin_;  // and the end
  std::vector<uint32_t> next_;         // by line: its overflow bucket; 0: none
  std::vector<uint32_t> before_;       // by overflow bucket: the line that leads to it
  std::vector<LogHead> heads_;         // by core
  std::optional<LogSpace> space_;
};

}  // namespace weft::sim
