// lsm/limits.h: the fixed numbers of a store's shape.
//
// Source    LevelDB's, so that both shape a store alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::lsm {

inline constexpr int kLevels = 7;
// A memtable's table goes no deeper at once: a key that is soon overwritten should not have to be
// compacted all the way.
inline constexpr int kMemTableLevelMax = 2;
// More files than any store gives numbers to; above it a number in a damaged manifest would soon
// wrap around.
inline constexpr uint64_t kFileNumberMax = uint64_t{1} << 63;
// How far names of files count, in a store whose next file number is `next`. A file of somebody
// else's may have any number: a store that counted on from it would reach the bound above, and
// would not open again.
inline constexpr uint64_t CountedFileNumberMax(uint64_t next) {
  constexpr uint64_t kMax = uint64_t{1} << 61;
  constexpr uint64_t kAhead = uint64_t{1} << 32;  // of the manifest, after a crash, at the most
  return next <= kMax ? kMax : std::min(next, kFileNumberMax - kAhead - 1) + kAhead;
}
// A batch may be one value, which a block of a table holds with its key and what stands before it,
// in 32 bits.
inline constexpr size_t kChangesBytesMax = UINT32_MAX - (64u << 20);
// An iterator reports one key for about so many bytes that it passes.
inline constexpr uint64_t kReadSampleBytes = 1u << 20;

// A seek costs about as much as compacting 40 KB; compacting a table pays once it has wasted that
// many seeks. 16 KB rather than 40, to be on the safe side.
inline int64_t SeeksAllowed(uint64_t table_bytes) {
  return std::max<int64_t>(100, static_cast<int64_t>(table_bytes / 16384));
}

// What a table may overlap of the level below the one it goes to, before it is ended: it will be
// compacted with all of them one day.
inline uint64_t GrandparentOverlapBytesMax(uint64_t file_bytes_max) { return 10 * file_bytes_max; }
// Inputs that a compaction may grow to where that costs no table of the lower level more.
inline uint64_t ExpandedBytesMax(uint64_t file_bytes_max) { return 25 * file_bytes_max; }

}  // namespace weft::lsm
