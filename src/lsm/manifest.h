// lsm/manifest.h: reads a manifest file, and writes the first record of a new one.
//
// Layout    a log (lsm/log_format.h) of version edits; the first holds everything.
// Threads   pure, except for the files.
// Errors    kCorruption names the file: a record that is no edit, one that removes a missing table
//           or adds a present one, any error except an end that a crash may have torn, or no first
//           record.
// Identity  a random number in the first record of every manifest that CreateManifest makes; all
//           the rest may be the same in another store.
// Source    LevelDB's manifest; docs/formats/manifest.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lsm/checksum_file.h"
#include "lsm/log_reader.h"
#include "lsm/log_writer.h"
#include "lsm/version_edit.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// Where a record ends, and the CRC-32C of the file up to there.
struct ManifestEnd {
  uint64_t bytes = 0;
  uint32_t crc = 0;
};

// All edits of a manifest as one.
struct ManifestState {
  VersionEdit edit;  // numbers: the last ones; tables: those that remain
  LogEnd end = LogEnd::kClean;
  uint64_t valid_bytes = 0;
  uint64_t file_bytes = 0;
  std::vector<ManifestEnd> ends = {};  // of its records
};

// The identity in the first record of the manifest at `path`; 0: LevelDB or somebody else began it.
// None: that record cannot be read.
std::optional<uint64_t> IdentityOfManifest(FileSystem* files, const std::string& path);

// `path` is for messages.
Result<ManifestState> ReadManifest(SequentialFile* file, const std::string& path);

// kCorruption if it has numbers of files that would soon wrap around.
Status CheckFileNumbers(const VersionEdit& edit, const std::string& path);

// A manifest that is open for more records.
struct OpenManifest {
  std::unique_ptr<ChecksummedFile> file;
  std::unique_ptr<LogWriter> log;
  uint64_t fresh_bytes = 0;  // with only its first record; 0: not known
  ManifestEnd end = {};      // of its last record
  uint64_t identity = 0;     // 0: it has none

  // Goes on behind `end`.
  void Begin(std::unique_ptr<WritableFile> file);
  Status Add(const VersionEdit& edit);
};

// Writes a manifest with `first` in it, syncs it and its name, and does not touch CURRENT. After an
// error there is no such file, if it could be removed.
Result<OpenManifest> CreateManifest(FileSystem* files, const std::string& dir, uint64_t number,
                                    const VersionEdit& first);

}  // namespace weft::lsm
