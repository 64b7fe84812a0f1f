// lsm/manifest_salvage.h: reads what it still can of a manifest, for a repair.
//
// lsm/manifest.h stops at the first error. This goes on with the next whole record, and says what
// is unknown because of the gap. A key may be anything, even a copy of a record. So a record that
// was searched for counts only with all the numbers that a store writes, if none of them goes back.
//
// Threads   pure, except for the file.
// Errors    of reading the file; damage is no error.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "lsm/version_edit.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

struct SalvagedManifest {
  VersionEdit edit;            // numbers: the last ones; tables: the remaining, by number;
  std::set<uint64_t> removed;  // tables that a record removed; none added them again;
  uint64_t records = 0;        // records that were read
  uint64_t valid_bytes = 0;    // up to the end of the last one
  bool has_beginning = false;  // the first record, which has all tables of its time, was read;
  bool lost_records = false;   // some are damaged, or the end is torn.
  // The last sequence number recorded before the first lost record; at most that of `edit`.
  table::SequenceNumber sequence_before_loss = 0;
  bool of_rocksdb = false;  // a whole record has what only RocksDB writes

  // Every number that a store needs to go on is known.
  bool has_numbers() const {
    return edit.next_file_number && edit.log_number && edit.last_sequence;
  }
};

// `file` is at its first byte; `path` is its path, read for what follows a place.
Result<SalvagedManifest> SalvageManifest(SequentialFile* file, FileSystem* files,
                                         const std::string& path);

}  // namespace weft::lsm
