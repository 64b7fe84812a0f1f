// bench/device/load.h: the queries of the device benchmark, made and checked on the device.
//
// Object n of [0, ids) has a key that is a bijective mix of n. Its value follows from n, too,
// except for the version, the low byte of its first word. So any reply can be checked without a
// copy of what was stored. Keys of n >= ids are those of misses.
//
// Threads   one host thread. All calls enqueue, except ReadCounts.
#pragma once

#include <cstdint>

#include "processor/cuda/device_memory.h"

namespace weft::bench {

// How the ids of a batch are drawn. kPermuted: all different; the batch is the range [offset,
// offset + count) of a permutation of the ids. kRandom: independent.
enum class Draw : uint8_t { kPermuted, kRandom };

struct LoadSpec {
  uint64_t seed = 0;
  uint64_t ids = 0;
  uint32_t key_words = 1;    // 8 bytes each
  uint32_t value_words = 1;  // likewise
  uint32_t count = 0;        // queries of the batch
  Draw draw = Draw::kRandom;
  uint64_t offset = 0;
  uint32_t miss_permille = 0;
  uint32_t write_permille = 0;  // the others read
  uint8_t write_kind = 0;       // kWants... of those
  uint8_t read_kind = 0;        // kWants... of the others
  uint8_t version = 0;          // of the values stored
};

// Where a batch lies on the device. Null: not wanted.
struct LoadArrays {
  uint64_t* hash = nullptr;
  uint64_t* keys = nullptr;
  uint8_t* wanted = nullptr;
  uint64_t* values = nullptr;  // to store
  uint32_t* key_at = nullptr;  // bytes
  uint8_t* key_bytes = nullptr;
};

Status MakeBatch(const LoadSpec& spec, const LoadArrays& to, processor::CudaStream stream);

// Counts of the answers, by kind.
struct LoadCounts {
  uint64_t hits = 0, misses = 0, stored = 0, deleted = 0;
  uint64_t refused = 0;  // stores and deletes that were not carried out
  uint64_t wrong = 0;
};

struct LoadAnswers {
  const uint8_t* result = nullptr;     // null: only Search ran
  const uint64_t* word = nullptr;      // of Search alone
  const uint8_t* log = nullptr;        // likewise
  const uint64_t* values = nullptr;    // records; null: values were not read
  const uint32_t* value_at = nullptr;  // units; null: at value_stride
  uint32_t value_stride = 0;
  bool all_gone = false;       // every key was deleted
  bool check_version = false;  // reads give spec.version
};

// Adds to `counts`, which is one LoadCounts on the device.
Status CheckBatch(const LoadSpec& spec, const LoadAnswers& answers, LoadCounts* counts,
                  processor::CudaStream stream);

}  // namespace weft::bench
