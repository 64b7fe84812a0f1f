// table/table_iterator.h: all entries of a table, in order, both ways.
//
// Threads   one at a time. The table must outlive it.
// Errors    a block that does not read ends the iterator; status() names file and offset. A seek
//           starts anew.
// Cost      Next within a block is BlockIterator's, without a virtual call. From the second block
//           in a row on, the file is asked to fetch ahead, in stretches that grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "table/block.h"
#include "table/block_reader.h"
#include "table/table.h"
#include "weft/db_options.h"
#include "weft/iterator.h"

namespace weft::table {

class TableIterator final : public Iterator {
 public:
  TableIterator(const Table* table, const ReadOptions& options)
      : table_(table), options_(options) {}

  bool Valid() const override { return block_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  // REQUIRES: target is not this iterator's own key().
  void Seek(std::string_view target) override;
  void Next() override {
    block_.Next();
    if (!block_.Valid()) [[unlikely]]
      GoToNextBlock();
  }
  void Prev() override {
    block_.Prev();
    if (!block_.Valid()) [[unlikely]]
      GoToBlockBefore();
  }
  std::string_view key() const override { return block_.key(); }
  std::string_view value() const override { return block_.value(); }
  Status status() const override { return status_; }
  bool ok() const { return status_.ok(); }

 private:
  // Block `i` into block_, not positioned; false, and a status, where it does not read.
  bool LoadBlock(size_t i);
  // Once block_ has come to its end, or failed: on to a block with an entry, if there is one.
  void GoToNextBlock();
  void GoToBlockBefore();
  // Takes the damage of block_ into the status; true where there is some.
  bool FailedInBlock();
  void FetchAhead();

  const Table* const table_;
  const ReadOptions options_;
  size_t block_index_ = 0;
  uint64_t block_offset_ = 0;
  BlockPin pin_;
  BlockIterator block_;
  Status status_;

  // Of the run of blocks read one after the other.
  size_t blocks_in_row_ = 0;
  uint64_t fetched_until_ = 0;
  uint64_t fetch_bytes_ = 0;
};

}  // namespace weft::table
