// lsm/table_check.h: holds one table file against itself, and against what a manifest says of it,
// block by block, and goes on behind damage.
//
// What `weft db verify` calls whole and what a repair keeps as it is are the same by this.
//
// Threads   one at a time.
// Errors    Run: no memory; what keeps the reader from the file. Findings go to `problem`, with
//           file and offset; what the disk does not give is one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/read_around.h"
#include "lsm/version_edit.h"
#include "table/filter_block_reader.h"
#include "table/internal_key.h"
#include "table/table_file.h"
#include "weft/status.h"

namespace weft::lsm {

using base::IsOfTheFile;

class TableCheck {
 public:
  using Problem = std::function<void(const std::string& text)>;
  using Progress = std::function<void(uint64_t bytes_done)>;

  // `filter`: a store's own policy, or null: then only bloom filters are looked into.
  TableCheck(const table::InternalComparator& comparator, std::string path, const Problem& problem,
             const FilterPolicy* filter = nullptr);

  // What the manifest says, which must outlive it: no entry may be newer than `last_sequence`. More
  // bytes than it says do no harm: the table is read from the end that it names.
  void Expect(const NewFile& file, table::SequenceNumber last_sequence) {
    expected_ = &file;
    last_sequence_ = last_sequence;
  }
  // The same, where only so much is known.
  void ExpectBytes(uint64_t bytes) { bytes_max_ = bytes; }
  // `progress` may be null.
  Status Run(FileSystem* files, const Progress& progress);

  // Of what was read; of the whole table where there was no problem.
  uint64_t bytes() const { return bytes_; }
  uint64_t entries() const { return entries_; }
  const std::string& first_key() const { return first_key_; }  // internal keys
  const std::string& last_key() const { return last_key_; }
  table::SequenceNumber newest() const { return newest_; }

 private:
  Status CheckFilter(const table::TableFile& table);
  Status CheckBlock(const table::TableFile& table, const table::BlockHandle& handle,
                    const std::string& separator);
  // What is wrong with an entry; null: nothing.
  const char* CheckEntry(std::string_view key, uint64_t block_offset);
  void CheckEnds();
  // An error of the file is told and ok; any other is returned.
  Status Take(const Status& status);
  void Tell(uint64_t offset, const std::string& what);

  const table::InternalComparator& comparator_;
  const std::string path_;
  const Problem problem_;
  const NewFile* expected_ = nullptr;
  table::SequenceNumber last_sequence_ = table::kSequenceMax;
  uint64_t bytes_max_ = UINT64_MAX;
  const table::InternalFilterPolicy bloom_;
  const FilterPolicy* const own_filter_;
  table::BlockContents filter_contents_;
  table::FilterBlockReader filter_;
  bool blocks_whole_ = true;  // so far
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
  std::string first_key_;
  std::string last_key_;
  table::SequenceNumber newest_ = 0;
  std::string floor_;  // keys are above it: the separator before
};

}  // namespace weft::lsm
