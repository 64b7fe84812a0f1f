// table/table_builder.h: writes a sorted run of keys and values as a table file.
//
//   TableBuilder builder(format, file.get());
//   for (...) builder.Add(key, value);
//   Status status = builder.Finish();
//   if (status.ok()) status = file->Sync();
//
// The same input gives the same bytes as LevelDB's builder. The file gets appends of kAppendBytes
// and more; closing and syncing it is the caller's. Start(file) begins the next table in the room
// of the last one.
//
// Layout    table/format.h.
// Threads   one thread at a time.
// Errors    those of the file. After one nothing more is written; Add may be called on, in vain.
// Cost      without compression a value is copied once, next to its block's neighbours, and summed
//           there; no virtual call an entry.
// Source    LevelDB's table builder gives the bytes; one large buffer for many blocks is ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "table/block_builder.h"
#include "table/compress.h"
#include "table/filter_block_builder.h"
#include "table/format.h"
#include "table/output_buffer.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::table {

class TableBuilder {
 public:
  // What the file gets at once, at least, while there is more to come.
  static constexpr size_t kAppendBytes = 256u << 10;

  // What `format` points to, and the file, must outlive this or the next Start.
  TableBuilder(const TableFormat& format, WritableFile* file);
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  // Begins a new table; what was added to one not finished is forgotten.
  void Start(WritableFile* file);

  // REQUIRES: `key` is above all keys added (not checked), and neither Finish nor Abandon was
  // called. Copies both.
  void Add(std::string_view key, std::string_view value) {
    if (index_pending_) AddIndexEntryBefore(key);
    if (filter_.has_value()) filter_->AddKey(key);
    block_.Add(key, value);
    entries_++;
    if (block_.Bytes() >= format_.block_size) FlushBlock();
  }
  // Ends the block: the next key begins another.
  void FlushBlock();
  // Block size, restart interval and compression are as `format` says from the next block on;
  // nothing else of it is looked at.
  void ChangeFormat(const TableFormat& format);

  // Writes what is left, filter, index and footer. The file is whole then, neither synced nor
  // closed.
  Status Finish();
  // Gives the table up: what is still here never reaches the file.
  void Abandon() { file_ = nullptr; }

  const Status& status() const { return status_; }
  uint64_t entries() const { return entries_; }
  // Bytes of the file by the blocks that are complete; after Finish, of the file.
  uint64_t flushed_bytes() const { return flushed_bytes_; }
  // The last key added. REQUIRES: entries() > 0
  std::string_view last_key() const { return block_.last_key(); }

 private:
  void AddIndexEntryBefore(std::string_view key);
  void AddIndexEntry(std::string_view separator);
  void BeginBlock();
  void WriteOut();

  TableFormat format_;
  std::optional<TableFormat> next_format_;  // of ChangeFormat, until the next block begins
  WritableFile* file_ = nullptr;            // null: abandoned
  Status status_;
  BlockCompressor compressor_;
  OutputBuffer out_;  // what the file gets next
  OutputBuffer raw_;  // the block being filled, where it will be compressed
  OutputBuffer index_bytes_;
  BlockBuilder block_;
  BlockBuilder index_;
  std::optional<FilterBlockBuilder> filter_;
  bool index_pending_ = false;  // the last block's index entry waits for the key behind it
  BlockHandle pending_handle_;
  uint64_t entries_ = 0;
  uint64_t flushed_bytes_ = 0;
  std::string separator_;
  std::string handle_bytes_;
};

}  // namespace weft::table
