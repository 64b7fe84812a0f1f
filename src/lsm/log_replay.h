// lsm/log_replay.h: reads the logs of a store back, in order, up to the first hole.
//
// After a crash a log may lack its end, and after a power cut anything that was not synced, also
// from its middle. What is replayed is always a prefix of the writes: the first record that is
// missing ends it, even where whole ones follow.
//
// A later log is gone on with only where nothing is missing between: its first record must follow,
// in number, the last one taken or the last one that the manifest records (which covers no more
// than tables hold, see docs/durable-concurrency.md). That also finds a log whose tail was lost
// just behind a record, or all of it. Within a log numbers may be passed over: a write of LevelDB's
// that failed, tables that were ingested. Of the first log that is true of its beginning, too.
//
// Behind zeros the replay goes on where the next number follows: LevelDB with reuse_logs appends to
// a log of ours behind the room that a crash left unused, and nothing is missing there.
//
// What is told apart, where something is missing and records follow:
//   a power cut   sectors of zeros, or a later log that outlived the end of an earlier one. Any
//                 power cut may do that to writes that were not synced: it ends the replay, and is
//                 reported, whatever the options.
//   damage        anything else. Paranoid: an error.
//   a closed store that is not as it was closed: always an error. The mark that a store leaves when
//                 it is closed (CloseMark) says how long its last log was; all of it and of the
//                 logs before it was synced.
// What cannot be told apart from a torn end is damage in the last part of a log that was never
// closed, and zeros on a sector's end in the middle of one.
//
// Threads   one.
// Errors    kCorruption names the log: it is not as the close mark says, or (paranoid) holds damage
//           that no power cut explains.
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

  // `recorded`: the last sequence number that the manifest records.
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
  // Takes the records behind the zeros at `gap` of a log, while each follows the one before. *end:
  // the file's offset of the first that does not, or none.
  Status TakeBehindZeros(const std::string& path, uint64_t gap, const Apply& apply,
                         std::optional<uint64_t>* end);
  // Why a record ends the replay; kNone: it was taken.
  enum class Break : uint8_t { kNone, kHole, kBadRecord };
  Status Take(std::string_view record, const Apply& apply, Break* why);
  bool GoesOn(table::SequenceNumber first) const;
  Status NotAsClosed(const std::string& path, const std::string& why) const;
  enum class Cause : uint8_t { kPowerCut, kDamage };
  Status Lose(uint64_t number, uint64_t bytes, Cause cause, const std::string& why);

  FileSystem* const files_;
  const std::string dir_;
  const bool paranoid_;
  const table::SequenceNumber recorded_;
  std::optional<CloseMark> mark_;
  table::SequenceNumber last_ = 0;
  bool first_of_log_ = true;  // no record of this log was taken yet
  bool broke_off_ = false;    // the log before ended in something that is no record
  bool torn_ = false;         // or a log before that one, and it was not zeros
  // The logs so far held no record. A log is left for the next one only when something is in it, so
  // that what was there is lost, unless LevelDB was told to compact an empty memtable.
  bool behind_empty_log_ = false;
  bool ended_ = false;  // a hole was met: nothing more is taken
  std::vector<Damage> damages_;
  std::vector<uint64_t> logs_with_losses_;
  std::optional<uint64_t> whole_bytes_of_last_;
};

}  // namespace weft::lsm
