// table/format.h: the fixed parts of a table file: handles, trailers, footer.
//
// Layout    data blocks, filter block, metaindex block, index block, footer; behind each block a
//           trailer of 5 bytes: compression (1), masked crc32c of the stored bytes and that byte
//           (4).
// Threads   pure.
// Source    LevelDB's table format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weft/comparator.h"
#include "weft/db_options.h"
#include "weft/filter_policy.h"
#include "weft/status.h"

namespace weft::table {

inline constexpr size_t kBlockTrailerBytes = 5;
inline constexpr size_t kHandleBytesMax = 20;
inline constexpr size_t kFooterBytes = 48;
inline constexpr uint64_t kTableMagic = 0xdb4775248b80fb57ull;

// How tables are written. `comparator` and `filter` see the keys as they stand in the table:
// InternalComparator and InternalFilterPolicy for a store's.
struct TableFormat {
  const Comparator* comparator = BytewiseComparator();
  const FilterPolicy* filter = nullptr;  // null: no filter block
  size_t block_size = 4096;
  int block_restart_interval = 16;
  Compression compression = Compression::kSnappy;
  int zstd_level = 1;
};

// Where a block is. `bytes` does not count the trailer.
struct BlockHandle {
  uint64_t offset = ~uint64_t{0};
  uint64_t bytes = ~uint64_t{0};

  void AppendTo(std::string* to) const;
  // Takes a handle off the front of *input; false where there is none.
  bool TakeFrom(std::string_view* input);
};

struct Footer {
  BlockHandle metaindex;
  BlockHandle index;

  void AppendTo(std::string* to) const;
  // kCorruption where the bytes are no footer. REQUIRES: bytes.size() == kFooterBytes
  Status DecodeFrom(std::string_view bytes);
};

}  // namespace weft::table
