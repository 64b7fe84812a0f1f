// compaction/table_input.h: one table of a job as a sequence of data blocks, each of them checked.
//
// Threads   one thread at a time.
// Errors    kCorruption, naming the table, where a checksum does not match or the footer or index
//           is damaged; the file's own otherwise.
// Cost      blocks of a file in memory are used where they lie; others are read in large pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compaction/entry_walk.h"
#include "compaction/job.h"
#include "table/block_reader.h"

namespace weft::compaction {

// Which blocks are wanted: those that may hold user keys in [first, end). Views.
struct UserKeyRange {
  std::optional<std::string_view> first;
  std::optional<std::string_view> end;
};

class TableInput {
 public:
  // Reads footer and index. What is given must outlive this.
  static Result<std::unique_ptr<TableInput>> Open(const Job& job, const JobTable& table,
                                                  const UserKeyRange& range);

  // Where the next block is, which is not read; false at the end of the range.
  Result<bool> NextHandle(table::BlockHandle* handle);
  // The next block's bytes, checked and uncompressed, until the next call; empty (no block is) at
  // the end of the range.
  Result<std::string_view> NextBlock();

  // How far behind each byte of that block the next block's lies, about, where both are used where
  // they lie in memory; else 0.
  size_t next_block_ahead() const {
    return block_.owned == nullptr && !blocks_.mapped.empty()
               ? block_.data.size() + table::kBlockTrailerBytes
               : 0;
  }

  // The file that blocks are read from, as any threads may at once: not by the calls above.
  const table::BlockFile& file() const { return shared_; }

  // Checks the blocks that are neither data nor index.
  Status CheckOtherBlocks() const;

  // Of the block that was handed out last: separators of the index, internal keys. The block's keys
  // are not above it.
  std::string_view separator() const { return index_.key(); }
  // That block may hold keys beyond the range; it is the last one then.
  bool may_reach_beyond_range() const { return may_reach_beyond_; }

  uint64_t bytes_read() const { return bytes_read_; }
  const std::string& path() const { return path_; }
  // kCorruption: PATH: block at OFFSET WHAT, of the block that was handed out last.
  Status Corruption(std::string_view what) const;

 private:
  TableInput(const Job& job, const JobTable& table, const UserKeyRange& range)
      : comparator_(*job.comparator),
        path_(table.path),
        range_(range),
        index_(table::VirtualOrder{job.comparator}) {}
  Status OpenFile(const Job& job, uint64_t bytes_claimed);
  Status Told(const Status& status) const;
  Status ReadIndex();
  void FetchBehind(const table::BlockHandle& handle) const;
  bool EndsBefore(std::optional<std::string_view> bound) const;

  // Less than the second cache by far, since every run of a job does it.
  static constexpr uint64_t kFetchBytesMax = 16u << 10;

  const table::InternalComparator& comparator_;
  const std::string& path_;
  const UserKeyRange range_;
  std::unique_ptr<RandomAccessFile> file_;
  table::BlockFile blocks_;  // of file_
  table::BlockFile shared_;  // of what that reads ahead of
  table::Footer footer_;
  table::BlockContents index_block_;
  uint64_t keys_bytes_ = 0;  // of separators so far
  EntryWalk<table::VirtualOrder> index_;
  table::BlockHandle handle_;  // of the last block
  table::BlockContents block_;
  bool at_end_ = false;
  bool may_reach_beyond_ = false;
  uint64_t bytes_read_ = 0;
};

}  // namespace weft::compaction
