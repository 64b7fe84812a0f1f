// lsm/manifest.h: reads a manifest file, and writes the first record of a new one.
//
// Layout    a log (lsm/log_format.h) of version edits; the first holds everything.
// Threads   pure, but for the files.
// Errors    kCorruption names the file: a record that is no edit, one that removes a table that is
//           not there or adds one that is, anything wrong but a torn end, or no first record.
// Source    LevelDB's manifest; docs/formats/manifest.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lsm/log_reader.h"
#include "lsm/log_writer.h"
#include "lsm/version_edit.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// All edits of a manifest as one.
struct ManifestState {
  VersionEdit edit;  // numbers: the last ones; tables: those that are left
  LogEnd end = LogEnd::kClean;
  uint64_t valid_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t records = 0;
};

// `path` is for messages.
Result<ManifestState> ReadManifest(SequentialFile* file, const std::string& path);

// A manifest that is open for more records.
struct OpenManifest {
  std::unique_ptr<WritableFile> file;
  std::unique_ptr<LogWriter> log;
  uint64_t fresh_bytes = 0;  // with its first record alone; 0: not known

  Status Add(const VersionEdit& edit);
};

// Writes a manifest with `first` in it, syncs it and its name, and does not touch CURRENT. After an
// error there is no such file, if it could be removed.
Result<OpenManifest> CreateManifest(FileSystem* files, const std::string& dir, uint64_t number,
                                    const VersionEdit& first);

}  // namespace weft::lsm
