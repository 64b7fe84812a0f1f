// tool/verifier.h: holds every file of a store against what it should be, and changes nothing.
//
// Checked are CURRENT, the manifest, that all tables it names are there, every table (checksums of
// all blocks and the filter, order of keys, its ends and size as the manifest says, sequence
// numbers), that no two tables of a level overlap, and every log that is needed. A torn end of the
// last log is no damage: a crash leaves that, and what is torn was never acknowledged as synced.
//
// Threads   one; another process that changes the store meanwhile makes it find what is not there.
// Errors    of the command only; damage is a finding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lsm/close_mark.h"
#include "lsm/manifest.h"
#include "table/internal_key.h"
#include "tool/console.h"
#include "weft/db_options.h"

namespace weft::tool {

// What was looked at.
struct VerifyReport {
  uint64_t tables = 0;
  uint64_t table_bytes = 0;
  uint64_t entries = 0;  // of tables
  uint64_t logs = 0;
  uint64_t log_records = 0;
  std::vector<std::string> problems;  // each with file and, where there is one, offset
  std::vector<std::string> notes;     // what is odd, and harmless
};

class Verifier {
 public:
  // `options`: checked ones. `console` gets progress.
  Verifier(const Console& console, const DbOptions& options, std::string dir);

  // Not ok: it could not be looked at (no memory, another comparator's store).
  Status Run();
  const VerifyReport& report() const { return report_; }

 private:
  Status CheckManifest(bool* legible);
  void CheckFolder();
  Status CheckTables();
  void CheckLevels();
  Status CheckLogs();
  Status NoteTornEnd(uint64_t number);
  Status CheckLogAlone(uint64_t number);
  std::string PathOf(uint64_t table) const;
  // Damage is a problem, and so is what can't be read; both are ok. Any other error is returned.
  Status Take(const Status& status);
  void Problem(std::string text) { report_.problems.push_back(std::move(text)); }

  const Console& console_;
  const DbOptions& options_;
  const std::string dir_;
  FileSystem* const files_;
  const table::InternalComparator comparator_;
  lsm::ManifestState manifest_;
  std::optional<lsm::CloseMark> mark_;  // of this store, as it was closed
  std::vector<uint64_t> logs_;          // that are needed
  VerifyReport report_;
};

}  // namespace weft::tool
