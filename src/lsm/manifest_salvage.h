// lsm/manifest_salvage.h: what can still be read of a manifest, for a repair.
//
// Where lsm/manifest.h stops at the first thing that is wrong, this goes on with the next whole
// record, and says what is not known for that. A key may be anything, also a copy of a record: one
// that was searched for counts only with all the numbers that a store writes, where none of them
// goes back.
//
// Threads   pure, but for the file.
// Errors    of reading the file; damage is none.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "lsm/version_edit.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

struct SalvagedManifest {
  VersionEdit edit;            // numbers: the last ones; tables: those that are left, by number
  std::set<uint64_t> removed;  // tables that a record removed, and none added again
  uint64_t records = 0;        // that were read
  uint64_t valid_bytes = 0;    // up to the end of the last of them
  bool has_beginning = false;  // the first record was read, which tells all tables of its time
  bool lost_records = false;   // some are damaged, or the end is torn
  // The last sequence number as the records before the first that is lost have it; at the most what
  // `edit` has.
  table::SequenceNumber sequence_before_loss = 0;
  bool of_rocksdb = false;  // a whole record has what only RocksDB writes

  // Every number that a store goes on with is known.
  bool has_numbers() const {
    return edit.next_file_number && edit.log_number && edit.last_sequence;
  }
};

// `file` is at its first byte; `path` is its own, and read for what stands ahead.
Result<SalvagedManifest> SalvageManifest(SequentialFile* file, FileSystem* files,
                                         const std::string& path);

}  // namespace weft::lsm
