// table/salvage.h: the entries that can still be read from a damaged table file.
//
// A file without a readable index is searched for blocks: a block is a stretch of bytes whose
// checksum stands behind it. One that follows another is found in one pass; behind damage the next
// is looked for at every byte, if it is not above kBlockBytesMax.
//
// Threads   one at a time.
// Errors    of the file only: damage is no error; skipped_bytes() says how much was given up.
// Cost      the whole file in memory; behind damage a pass of kBlockBytesMax for each kStartsBytes
//           that are damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/block_reader.h"
#include "table/key_order.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::table {

class TableSalvage {
 public:
  static constexpr size_t kBlockBytesMax = 8u << 20;
  static constexpr size_t kStartsBytes = 64u << 10;

  // Calls for each entry of each whole data block, in the order of the file; only keys that come
  // after the one before, and are internal keys.
  using Take = std::function<Status(std::string_view internal_key, std::string_view value)>;

  TableSalvage(const KeyOrder& order, const Take& take) : order_(order), take_(take) {}

  // Stops at the first error of Take, and returns it.
  Status Run(FileSystem* files, const std::string& path);

  uint64_t blocks() const { return blocks_; }
  uint64_t entries() const { return entries_; }
  // Bytes of the file that are no whole data block's, its end (filter, index, footer) included.
  uint64_t skipped_bytes() const { return skipped_bytes_; }

 private:
  // Bytes of the block that begins at `start`, without its trailer; kNone: none does.
  static constexpr size_t kNone = ~size_t{0};
  size_t BlockAt(size_t start) const;
  // Where the first data block begins at or behind `from`; the file's end: nowhere.
  size_t FindDataBlock(size_t from) const;
  // Start and bytes of what has a checksum behind it and begins within kStartsBytes from `from`, in
  // order. Some of it may be chance.
  std::vector<std::pair<size_t, size_t>> BlocksThatBeginIn(size_t from) const;
  std::optional<BlockContents> ReadDataBlock(size_t start, size_t bytes) const;
  // Takes the block's entries if it is a data block; false where it is none.
  bool TakeBlock(size_t start, size_t bytes, Status* status);
  bool IsIndex(std::string_view block, size_t start) const;

  const KeyOrder order_;
  const Take take_;
  std::string file_;
  std::string last_key_;
  uint64_t blocks_ = 0;
  uint64_t entries_ = 0;
  uint64_t skipped_bytes_ = 0;
};

}  // namespace weft::table
