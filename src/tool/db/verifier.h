// tool/db/verifier.h: checks every file of a store, and changes nothing.
//
// It checks CURRENT and the manifest, and that all tables the manifest names exist. In every table:
// checksums of all blocks and the filter, order of keys, sequence numbers, and ends and size
// against the manifest. Also that no two tables of a level overlap, and every needed log. A torn
// end of the last log is no damage: a crash leaves it, and it was never acknowledged as synced.
//
// Threads   one; if another process changes the store meanwhile, it finds false problems.
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

// What was checked.
struct VerifyReport {
  uint64_t tables = 0;
  uint64_t table_bytes = 0;
  uint64_t entries = 0;  // of tables
  uint64_t logs = 0;
  uint64_t log_records = 0;
  std::vector<std::string> problems;  // each with file and, if there is one, offset
  std::vector<std::string> notes;     // odd, but harmless
};

class Verifier {
 public:
  // `options`: checked ones. `console` gets progress.
  Verifier(const Console& console, const DbOptions& options, std::string dir);

  // Not ok: it could not be checked (no memory, another comparator's store).
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
  // Damage and unreadable files are problems: both return ok. Any other error is returned.
  Status Take(const Status& status);
  void Problem(std::string text) { report_.problems.push_back(std::move(text)); }

  const Console& console_;
  const DbOptions& options_;
  const std::string dir_;
  FileSystem* const files_;
  const table::InternalComparator comparator_;
  lsm::ManifestState manifest_;
  std::optional<lsm::CloseMark> mark_;  // of this store, as it was closed
  std::vector<uint64_t> logs_;          // the needed ones
  VerifyReport report_;
};

}  // namespace weft::tool
