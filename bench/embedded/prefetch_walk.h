// bench/embedded/prefetch_walk.h: lookups of a PrefetchTable in batches, in each way of prefetching
// under comparison. Everything else is the same: the store's own tasks, from a hash to a copy.
//
//     for the whole batch:  ask for the bucket            } as far as the
//     for the whole batch:  match tags, ask for objects   } way says so
//     for the whole batch:  compare the key, copy the value
//
// Threads   any number, each with its own WalkBuffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bench/embedded/prefetch_table.h"

namespace weft::bench {

enum class PrefetchWay : uint8_t {
  kNone,
  kBucket,     // the bucket alone
  kRamcloud,   // the bucket; when the header is here, the object if it has fewer than 300 bytes
  kFirstLine,  // the bucket and the object's first line
  kMean,       // as the store does: as many bytes as objects have on average, 512 at most
  kMeanWhole,  // the same without a bound
  kExact,      // just the lines that it lies on, by the slot's bits
  kStatic128,  // a value of so many bytes and its key
  kStatic256,
  kStatic512,
  kStatic1024,
  kExhausted,  // the lines of all objects in the bucket
  kRight20,    // kExact of the right slot for so many percent of the lookups, otherwise of another
  kRight50,
  kRight80,
};
inline constexpr size_t kPrefetchWays = 15;
inline constexpr std::array<std::string_view, kPrefetchWays> kPrefetchWayNames = {
    "none",        "bucket",    "ramcloud",   "first-line", "mean",
    "mean-whole",  "exact",     "static-128", "static-256", "static-512",
    "static-1024", "exhausted", "right-20",   "right-50",   "right-80"};

inline constexpr uint32_t kPrefetchBatchMax = 32;

struct WalkBuffer {
  static constexpr size_t kBytes = size_t{64} << 10;
  alignas(64) std::array<uint8_t, kBytes> bytes{};  // of replies, filled round and round
};

// Looks up [begin, begin + count) of the lookups, `batch` at a time.
// REQUIRES: 0 < batch <= kPrefetchBatchMax; all of them are in the table
void RunWalk(PrefetchWay way, const PrefetchTable& table, const PrefetchLookups& lookups,
             size_t begin, size_t count, uint32_t batch, WalkBuffer* buffer);

// Whether each of them gives its value, byte for byte.
bool GivesRightValues(PrefetchWay way, const PrefetchTable& table, const PrefetchLookups& lookups,
                      size_t count, uint32_t batch);

}  // namespace weft::bench
