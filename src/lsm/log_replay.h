// lsm/log_replay.h: reads the logs of a store back, in order, up to the first hole.
//
// After a crash a log may lack its end, and after a power cut anything that was not synced, also
// from its middle. What is replayed is always a prefix of the writes: the first record that is
// missing ends it, even where whole ones follow. Records that follow in a later log are taken only
// if their sequence numbers go on where the log before it broke off: then nothing was missing.
//
// What cannot be told from a torn end is damage in the last synced part of a log. The mark that a
// store leaves when it is closed (CloseMark) says how long its log was, so that damage to a closed
// store is never taken for a torn end.
//
// Threads   one.
// Errors    kCorruption names the log: it is shorter than the close mark says, or (paranoid) whole
//           records follow damage.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsm/log_reader.h"
#include "table/internal_key.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// What a store leaves in the file CLOSED: which log was its last and how long that was. A mark of
// another log is of the past and says nothing.
struct CloseMark {
  uint64_t log_number = 0;
  uint64_t log_bytes = 0;

  Status Write(FileSystem* files, const std::string& dir) const;
  // None where there is no mark, or no legible one.
  static std::optional<CloseMark> Read(FileSystem* files, const std::string& dir);
};
std::string CloseMarkFileName(const std::string& dir);

class LogReplay {
 public:
  struct Damage {
    std::string file;
    uint64_t bytes = 0;  // that were passed over
    Status what;
  };
  // Takes a batch's contents, in order.
  using Apply = std::function<Status(std::string_view contents)>;

  // `recorded`: the last sequence number that the manifest knows of.
  LogReplay(FileSystem* files, std::string dir, bool paranoid,
            table::SequenceNumber recorded = table::kSequenceMax)
      : files_(files), dir_(std::move(dir)), paranoid_(paranoid), recorded_(recorded) {}

  // `logs` ascending. Stops at the first error of `apply`, and returns it.
  Status Run(const std::vector<uint64_t>& logs, const Apply& apply);

  // Of the last batch applied; 0: there was none.
  table::SequenceNumber last_sequence() const { return last_; }
  // What was passed over; torn ends, which any crash leaves, are not in it.
  const std::vector<Damage>& damages() const { return damages_; }
  // Logs that hold records which were not taken.
  const std::vector<uint64_t>& logs_with_losses() const { return logs_with_losses_; }
  // Of the last log, where all of it was taken: how much of it is records. Else none.
  std::optional<uint64_t> whole_bytes_of_last() const { return whole_bytes_of_last_; }

 private:
  Status ReplayOne(uint64_t number, const Apply& apply);
  Status Take(std::string_view record, const Apply& apply, bool* taken);
  Status Lose(uint64_t number, uint64_t bytes, const std::string& why);

  FileSystem* const files_;
  const std::string dir_;
  const bool paranoid_;
  const table::SequenceNumber recorded_;
  std::optional<CloseMark> mark_;
  table::SequenceNumber last_ = 0;
  bool broke_off_ = false;  // the log before ended in something that is no record
  // The logs so far held no record. A log is left for the next one only when something is in it, so
  // that what was there is lost, unless LevelDB was told to compact an empty memtable.
  bool behind_empty_log_ = false;
  bool ended_ = false;      // a hole was met: nothing more is taken
  std::vector<Damage> damages_;
  std::vector<uint64_t> logs_with_losses_;
  std::optional<uint64_t> whole_bytes_of_last_;
};

}  // namespace weft::lsm
