// lsm/log_replay.h: reads the logs of a store back, in order, up to the first hole.
//
// After a crash a log may lack its end, and after a power cut anything that was not synced, even in
// its middle. The replay is always a prefix of the writes: the first missing record ends it, even
// if whole ones follow.
//
// The replay enters a later log only if nothing is missing between. Its first record must follow,
// in number, the last one taken or the last one that the manifest records. (That covers no more
// than tables hold, see docs/durable-concurrency.md.) So a log whose tail was lost just behind a
// record, or all of it, is found, too. Within a log numbers may be skipped: by a failed write of
// LevelDB's, or by ingested tables. The beginning of the first log may skip some, too.
//
// After zeros the replay goes on if the next number follows: LevelDB with reuse_logs appends to a
// log of ours behind the room that a crash left unused, and nothing is missing there.
//
// Three cases are told apart if something is missing and records follow:
//   a power cut   sectors of zeros among bytes that are as written (lsm/lost_sectors.h), or a later
//                 log that outlived the end of an earlier one. Any power cut may do that to writes
//                 that were not synced: it ends the replay, and is reported, whatever
//                 LogDamage says.
//   damage        anything else: no crash leaves it.
//   a closed store that is not as it was closed: damage, too. The mark that a store leaves when
//                 it is closed (CloseMark) says how long its last log was. All of that log, and of
//                 the logs before it, was synced. Two kinds of damage look like a torn end: damage
//                 in the last record of a log that was never closed, and zeros up to a sector's end
//                 in the middle of such a log.
//
// Threads   one.
// Errors    kCorruption names the log: it is damaged, and LogDamage refuses that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsm/close_mark.h"
#include "lsm/log_reader.h"
#include "table/internal_key.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// What happens on damage.
enum class LogDamage : uint8_t {
  kRefuse,        // it is an error
  kPassOver,      // it ends the replay and is reported; an error in a closed store
  kPassOverEven,  // in a closed store, too: for readers, which change nothing
};

class LogReplay {
 public:
  struct Damage {
    std::string file;
    uint64_t bytes = 0;  // bytes that were skipped
    Status what;
  };
  // Takes a batch's contents, in order.
  using Apply = std::function<Status(std::string_view contents)>;

  // `recorded`: the last sequence number that the manifest records.
  LogReplay(FileSystem* files, std::string dir, LogDamage rule,
            table::SequenceNumber recorded = table::kSequenceMax)
      : files_(files), dir_(std::move(dir)), rule_(rule), recorded_(recorded) {}

  // How the store was left when it was closed.
  void SetMark(std::optional<CloseMark> mark) { mark_ = std::move(mark); }
  // `logs` ascending. Stops at the first error of `apply`, and returns it.
  Status Run(const std::vector<uint64_t>& logs, const Apply& apply);

  // The last number of the last batch applied; 0: there was none.
  table::SequenceNumber last_sequence() const { return last_; }
  // All that was skipped, except torn ends, which any crash leaves.
  const std::vector<Damage>& damages() const { return damages_; }
  // Logs that hold records which were not taken, and logs that an error is about.
  const std::vector<uint64_t>& logs_with_losses() const { return logs_with_losses_; }
  // The bytes of records in the last log, if all of it was taken. Otherwise none.
  std::optional<uint64_t> whole_bytes_of_last() const { return whole_bytes_of_last_; }

 private:
  Result<std::unique_ptr<SequentialFile>> OpenLog(const std::string& path) const;
  Status ReplayOne(uint64_t number, const Apply& apply);
  Status TakeRecords(uint64_t number, LogReader* reader, const Apply& apply, bool* broke);
  Status EndDamaged(uint64_t number, const LogReader& reader, const Apply& apply);
  Status EndTorn(uint64_t number, const LogReader& reader);
  // Whole records were found behind the wrong place: were they part of a value?
  Result<bool> IsTorn(const std::string& path, uint64_t from) const;
  // Whether a power cut that took sectors may have made the end of the log.
  Result<bool> IsPowerCut(const std::string& path, const LogReader& reader) const;
  // Takes the records behind the zeros at `gap` of a log, while each follows the one before. *end:
  // the file's offset of the first that does not, or none.
  Status TakeBehindZeros(const std::string& path, uint64_t gap, const Apply& apply,
                         std::optional<uint64_t>* end);
  // Why a record ends the replay; kNone: it was taken.
  enum class Break : uint8_t { kNone, kHole, kBadRecord };
  Status Take(std::string_view record, const Apply& apply, Break* why);
  bool GoesOn(table::SequenceNumber first) const;
  bool IsMarkedLog(uint64_t number) const;
  enum class Cause : uint8_t { kPowerCut, kDamage, kNotAsClosed };
  Status Lose(uint64_t number, uint64_t bytes, Cause cause, const std::string& why);

  FileSystem* const files_;
  const std::string dir_;
  const LogDamage rule_;
  const table::SequenceNumber recorded_;
  std::optional<CloseMark> mark_;
  bool closed_ = false;  // this log is the one that the mark describes
  table::SequenceNumber last_ = 0;
  bool first_of_log_ = true;  // no record of this log was taken yet;
  bool broke_off_ = false;    // the log before ended in something that is no record
  bool torn_ = false;         // or a log before that one, and not in zeros
  struct TornEnd {
    uint64_t log = 0;  // 0: there is none
    uint64_t at = 0;
    uint64_t bytes = 0;
  };
  TornEnd unexplained_;  // no crash leaves it with records in later logs
  // The logs so far held no record. A log is left for the next one only if it has records, so they
  // are lost, unless LevelDB compacted an empty memtable on request.
  bool behind_empty_log_ = false;
  bool ended_ = false;  // a hole was met: no more is taken
  std::vector<Damage> damages_;
  std::vector<uint64_t> logs_with_losses_;
  std::optional<uint64_t> whole_bytes_of_last_;
};

}  // namespace weft::lsm
