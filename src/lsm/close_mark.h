// lsm/close_mark.h: the mark that a store leaves in the file CLOSED. With it the next opening can
// tell a damaged file from one that a crash left torn.
//
// It says how long the last log and the manifest were, and how to recognize them. Another store may
// lie in the folder by then (LevelDB's DestroyDB leaves the file), and begin with the same bytes.
// So the mark counts only for the manifest that it describes, which it names by its identity
// (lsm/manifest.h). That manifest may have grown since.
//
// Layout    docs/formats/files.md.
// Threads   a value.
// Errors    of reading: none; an illegible mark says nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lsm/manifest.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

struct CloseMark {
  uint64_t log_number = 0;
  uint64_t log_bytes = 0;
  uint64_t log_head = 0;  // HeadOfLog
  uint64_t manifest_number = 0;
  uint64_t manifest_bytes = 0;
  uint32_t manifest_crc = 0;  // of these bytes
  uint64_t manifest_identity = 0;

  Status Write(FileSystem* files, const std::string& dir) const;
  // None if there is no mark, or no legible one.
  static std::optional<CloseMark> Read(FileSystem* files, const std::string& dir);
};
std::string CloseMarkFileName(const std::string& dir);

// The first bytes of a log, which tell it from another of its number; 0: it has fewer.
uint64_t HeadOfLog(FileSystem* files, const std::string& dir, uint64_t number);

// The mark in `dir`, if it belongs to the store whose manifest was read into `state`. If it does,
// but the manifest lacks records that it had: kCorruption.
Result<std::optional<CloseMark>> FindCloseMark(FileSystem* files, const std::string& dir,
                                               uint64_t manifest_number,
                                               const ManifestState& state);
// Whether a manifest that reads to its end lacks records that the mark counts: for a repair.
bool LacksMarkedEnd(FileSystem* files, const std::string& dir, uint64_t manifest_number);

}  // namespace weft::lsm
