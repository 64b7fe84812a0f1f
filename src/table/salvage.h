// table/salvage.h: the entries that can still be read from a damaged table file.
//
// Where the index can be read, it says where each block is and which keys it may hold; a block that
// is damaged costs itself, whatever its bytes look like. Only a file without an index is searched
// for blocks (table/block_search.h). Then what a value holds may look like blocks of the table:
// those that another table's index names are passed over, and of the rest what fits together best
// counts (table/block_chain.h).
//
// Threads   one at a time.
// Errors    of Take; no memory; what keeps the reader from the file (base::IsOfTheFile). Damage is
//           no error, and neither is what the disk does not give; skipped_bytes() says how much was
//           given up.
// Cost      the whole file in memory. With an index each block is read once. A search is one pass,
//           and each stretch that it finds is read once. Of those that lie over others, as only
//           somebody who wants it so can make many, kSearchWork bytes are read for each byte of the
//           file; not_looked_at() counts the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/read_around.h"
#include "table/block_chain.h"
#include "table/block_reader.h"
#include "table/internal_key.h"
#include "table/key_order.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::table {

class TableSalvage {
 public:
  static constexpr uint64_t kSearchWork = 32;

  // Calls for each entry of each whole data block, in the order of the file; only keys that come
  // after the one before, and are internal keys.
  using Take = std::function<Status(std::string_view internal_key, std::string_view value)>;

  TableSalvage(const KeyOrder& order, const Take& take) : order_(order), take_(take) {}
  // A search passes over blocks with entries that are newer: they are none of the store's.
  void SetNewest(SequenceNumber newest) { newest_ = newest; }
  // What the file has behind so many bytes is none of the table.
  void SetBytesMax(uint64_t bytes) { bytes_max_ = bytes; }

  // Stops at the first error of Take, and returns it.
  Status Run(FileSystem* files, const std::string& path);

  // An index said where the blocks are.
  bool by_index() const { return by_index_; }
  // What was taken.
  uint64_t blocks() const { return blocks_; }
  uint64_t entries() const { return entries_; }
  // Blocks that the index names and that are not whole; or that a search found, and that do not fit
  // the others. Entries that are not where they should be, and those of blocks that do not fit.
  uint64_t skipped_blocks() const { return skipped_blocks_; }
  uint64_t skipped_entries() const { return skipped_entries_; }
  // Stretches that may be blocks, or an index, and that a search had no work left for. Blocks count
  // as skipped as well, but where an index was found.
  uint64_t not_looked_at() const { return not_looked_at_; }
  // Bytes of the file that are no whole data block's, its end (filter, index, footer) included.
  uint64_t skipped_bytes() const { return skipped_bytes_; }
  const base::Unreadable& unreadable() const { return unreadable_; }
  // Bytes that were looked at, those that were summed up included.
  uint64_t work_bytes() const { return work_bytes_; }

 private:
  // A data block by an index, and where its keys end.
  using Named = std::pair<std::string, BlockHandle>;
  using Index = std::vector<Named>;

  // What block entries say of a block that was found.
  struct Seen {
    FoundBlock block;
    uint64_t named_end =
        0;                  // where the last ends of the blocks that its values name; 0: they don't
    bool is_newer = false;  // than the store
    bool is_index = false;
  };
  static std::pair<uint64_t, uint64_t> PlaceOfSeen(const Seen& seen) {
    return {seen.block.handle.offset, seen.block.handle.bytes};
  }

  BlockFile View() const;
  Result<BlockContents> Read(const BlockHandle& handle);
  // Of the index block at `handle`, with all offsets raised by `base`; none: it is not one.
  std::optional<Index> ReadIndex(const BlockHandle& handle, uint64_t base);
  std::optional<Index> IndexOfFooter();
  Status RunByIndex(const Index& index);
  Status RunBySearch();
  // What a search may read beside what lies in the file once.
  uint64_t WorkMax() const;
  // `found` by their ends; the answer by its places. Counts those that were left out.
  std::vector<Seen> LookAtAll(const std::vector<BlockHandle>& found, uint64_t* unseen);
  std::optional<Seen> Look(const BlockHandle& handle);
  // Blocks that the indexes of tables within this file name.
  std::vector<BlockHandle> BlocksOfInnerTables(uint64_t first_block,
                                               const std::vector<BlockHandle>& found);
  // Of a file whose footer leads to none. Marks others that are no data blocks.
  std::optional<Index> FindIndex(const std::vector<BlockHandle>& found, std::vector<Seen>* seen);
  static bool MayBeIndex(const Seen& seen, uint64_t last_data);
  bool HasMetaindexBefore(uint64_t offset, const std::vector<BlockHandle>& found) const;
  // Takes the entries above `floor` (empty: all) and up to `ceiling` (null: no end).
  Status TakeBlock(const BlockHandle& handle, std::string_view floor, const std::string* ceiling);

  const KeyOrder order_;
  const Take take_;
  SequenceNumber newest_ = kSequenceMax;
  uint64_t bytes_max_ = UINT64_MAX;
  std::string path_;
  std::string file_;
  base::Unreadable unreadable_;
  std::string last_key_;
  bool by_index_ = false;
  uint64_t blocks_ = 0;
  uint64_t entries_ = 0;
  uint64_t skipped_blocks_ = 0;
  uint64_t skipped_entries_ = 0;
  uint64_t not_looked_at_ = 0;
  uint64_t skipped_bytes_ = 0;
  uint64_t work_bytes_ = 0;
  uint64_t refused_ = 0;  // blocks with keys of too many bytes
};

}  // namespace weft::table
