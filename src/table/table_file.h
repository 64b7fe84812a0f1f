// table/table_file.h: a table file taken apart block by block, as far as it is whole.
//
// For looking into tables, damaged ones too; lookups are table/table.h's.
//
// Threads   one at a time.
// Errors    kCorruption names the file and the block's offset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "table/block_reader.h"
#include "table/format.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::table {

class TableFile {
 public:
  // Reads the footer. The table ends behind `bytes_max` of the file's, where it has more.
  static Result<std::unique_ptr<TableFile>> Open(FileSystem* files, const std::string& path,
                                                 uint64_t bytes_max = UINT64_MAX);

  struct Block {
    BlockContents contents;
    Compression compression = Compression::kNone;
  };
  // Checked and decompressed.
  Result<Block> Read(const BlockHandle& handle) const;
  // The entries of a block whose values are handles: the index, or what names the other blocks.
  // kCorruption where two of the blocks overlap, so that reading all costs what the file does.
  // Those of the index lie in its order.
  Result<std::vector<std::pair<std::string, BlockHandle>>> ReadHandles(
      const BlockHandle& handle) const;

  const Footer& footer() const { return footer_; }
  uint64_t bytes() const { return blocks_.bytes; }

 private:
  explicit TableFile(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
  BlockFile blocks_;
  Footer footer_;
};

// "none", "snappy", "zstd".
const char* CompressionName(Compression compression);

}  // namespace weft::table
