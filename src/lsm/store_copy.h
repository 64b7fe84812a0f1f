// lsm/store_copy.h: files put under a second name, and a store's manifest written from a version.
//
// Threads   any; distinct targets.
#pragma once

#include <cstdint>
#include <string>

#include "lsm/version.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// The folder that `path` lies in; "." where the path does not say.
std::string ParentOf(const std::string& path);

// A synced copy, as long as the file was. After an error part of it may be there.
Status CopyFile(FileSystem* files, const std::string& from, const std::string& to);
// Whether two files have the same bytes.
Result<bool> HoldTheSame(FileSystem* files, const std::string& a, const std::string& b);

// A second name for a file that no longer changes; a synced copy where the file system has no such
// thing. *linked (may be null) says which.
Status LinkOrCopy(FileSystem* files, const std::string& from, const std::string& to,
                  bool* linked = nullptr);

// Writes a manifest that names the tables of `version` and no log, and CURRENT, into `dir`; both
// survive a power cut then. The tables must lie there already. `next_file` is above all their
// numbers.
Status WriteManifestOf(const Version& version, FileSystem* files, const std::string& dir,
                       uint64_t next_file, table::SequenceNumber last_sequence);

}  // namespace weft::lsm
