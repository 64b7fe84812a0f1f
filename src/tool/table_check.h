// tool/table_check.h: holds one table file against the manifest and against itself, block by block,
// and goes on behind damage.
//
// Threads   one at a time.
// Errors    Run: of the file system only. Findings go to `problem`, with file and offset.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lsm/version_edit.h"
#include "table/filter_block_reader.h"
#include "table/internal_key.h"
#include "tool/table_file.h"
#include "weft/status.h"

namespace weft::tool {

class TableCheck {
 public:
  using Problem = std::function<void(const std::string& text)>;
  using Progress = std::function<void(uint64_t bytes_done)>;

  // `file`: what the manifest says; no entry may be newer than `last_sequence`.
  TableCheck(const table::InternalComparator& comparator, const lsm::NewFile& file,
             uint64_t last_sequence, std::string path, const Problem& problem);

  Status Run(FileSystem* files, const Progress& progress);
  uint64_t entries() const { return entries_; }

 private:
  Status CheckFilter(const TableFile& table);
  Status CheckBlock(const TableFile& table, const table::BlockHandle& handle,
                    const std::string& separator);
  // What is wrong with an entry; null: nothing.
  const char* CheckEntry(std::string_view key, uint64_t block_offset);
  void CheckEnds();
  // Damage is told and ok; any other error is returned.
  Status Take(const Status& status);
  void Tell(uint64_t offset, const std::string& what);

  const table::InternalComparator& comparator_;
  const lsm::NewFile& file_;
  const uint64_t last_sequence_;
  const std::string path_;
  const Problem problem_;
  const table::InternalFilterPolicy policy_;
  table::BlockContents filter_contents_;
  table::FilterBlockReader filter_;
  bool blocks_whole_ = true;  // so far
  uint64_t entries_ = 0;
  std::string first_key_;
  std::string last_key_;
  std::string floor_;  // keys are above it: the separator before
};

}  // namespace weft::tool
