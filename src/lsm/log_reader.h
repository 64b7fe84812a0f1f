// lsm/log_reader.h: reads the records of a log or manifest file, whatever state it is in.
//
//   LogReader reader(file.get(), &reporter, LogReader::Mode::kStop);
//   std::string_view record;
//   while (reader.Read(&record)) replay(record);
//   if (reader.end() == LogEnd::kDamaged) ...
//
// A log is appended to, so a crash leaves its end torn: half a record, or room that was never
// written. Damage is something else: whole records, or parts of one, stand behind it. A reader that
// stops (kStop) delivers everything before the first byte that is wrong and then says which of the
// two it met; one that salvages (kSalvage) goes on with the next whole record, wherever that stands
// (lsm/log_resync.h), and takes one of which the header alone is wrong. In a write that was cut it
// looks for none: a value may be a copy of some log. kNextBlock looks for none but where a length
// that can be trusted leads, or where the next block begins.
//
// A kFirst with nothing behind it but a new record is no damage: its writer gave up, nobody was
// told that it was written, and what follows is where the next writer put it. It is reported and
// passed over in all modes.
//
// Threads   one at a time.
// Errors    a failed read ends the log: kReadError, and status() has the file's.
// Cost      a block of memory and the longest record of several fragments; records of one fragment
//           are not copied. After a bad record, kStop reads the rest of the file once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lsm/log_format.h"
#include "lsm/record_kind.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

class RecordWindow;

// How a log ended.
enum class LogEnd : uint8_t {
  kNotYet,     // Read has not returned false
  kClean,      // behind a record; or only zeros follow
  kTorn,       // bytes follow that are no record, and no whole fragment after them
  kDamaged,    // as kTorn, but whole fragments stand behind what is wrong
  kReadError,  // the file could not be read: see status()
};

class LogReader {
 public:
  enum class Mode : uint8_t { kStop, kSalvage, kNextBlock };

  // Hears of every byte that belongs to no record delivered, but zeros.
  class Reporter {
   public:
    virtual ~Reporter() = default;
    // `bytes` at `offset` of the file were dropped.
    virtual void Dropped(uint64_t offset, uint64_t bytes, std::string_view reason) = 0;
    // The header at `offset` is wrong, and its checksum told the right one: nothing was dropped.
    virtual void Mended(uint64_t /*offset*/) {}
  };

  // `file` is at its first byte and, with `reporter` (may be null), must outlive the reader.
  LogReader(SequentialFile* file, Reporter* reporter, Mode mode);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  ~LogReader();

  // What each record is tells the file's from a value's where records are searched for. To be
  // called before Read.
  void Expect(RecordKind kind) { kind_ = kind; }
  // The same, and the file is read once more, around what cannot be read of it: for the records
  // behind a place that is searched (lsm/record_window.h); and for what is one batch that was cut
  // (lsm/torn_batch.h), which is not searched, and ends the log. `before`: the last number of what
  // goes before the file, if that is known.
  void Expect(RecordKind kind, FileSystem* files, std::string path,
              std::optional<uint64_t> before = std::nullopt);
  // The next record, until the next call; false at the end.
  bool Read(std::string_view* record);

  LogEnd end() const { return end_; }
  // Ok unless the file could not be read.
  const Status& status() const { return status_; }
  // Of what ended it, in mode kStop, where it is no record: a sector that it touches ends in zeros,
  // as where a power cut took the sector, or all of it since the last sync; or a sync met it before
  // its head was visible. Else nothing that was
  // written and not synced can have become this: it is damage.
  bool misses_sector() const { return misses_sector_; }
  // The same for a file of which each record is synced before the next: all of it in that sector.
  bool misses_whole_sector() const { return misses_whole_sector_; }
  // Behind what ended it, in mode kStop, stands a whole fragment that begins a record. Where none
  // does, all that stands there may be the rest of one record.
  bool record_begins_beyond() const { return record_begins_beyond_; }
  // What ended it reaches, by its header, beyond the file's end: the file may have been cut.
  bool cut_short() const { return cut_short_; }
  // Where the last record that was delivered begins, and the byte behind it: as far as here the
  // file is whole (in mode kStop), and may be cut before it is appended to.
  uint64_t record_offset() const { return record_offset_; }
  // It stands, in its block, behind a place that was searched for: it may be a value's.
  bool record_was_searched() const { return partial_searched_; }
  uint64_t valid_bytes() const { return valid_bytes_; }
  // Of the file, as far as it was read: all of it once Read has returned false.
  uint64_t file_bytes() const { return block_offset_ + block_.size(); }

 private:
  struct Fragment {
    FragmentType type = FragmentType::kZero;
    std::string_view payload;
    uint64_t offset = 0;  // of its header, in the file
  };
  enum class Next : uint8_t { kFragment, kEnd, kBad };

  // Looks at the position. kFragment: a whole one, and the position is behind it; kBad: what stands
  // there is none, and the position stays; kEnd: no byte is left, or the file cannot be read.
  Next NextFragment(Fragment* fragment);
  // Makes the next block the current one; false at the end and after an error.
  bool NextBlock();
  // Whether a whole fragment stands at `at` of the block; `reason_` has why not.
  bool ParseAt(size_t at, Fragment* fragment);
  // Adds a fragment to the record; true where the record is whole now, and in *record.
  bool Take(const Fragment& fragment, std::string_view* record);
  // What stands at the position is no fragment: is it so for want of a sector, or of an end?
  void LookForLostSector();
  bool CutShort() const;
  // What stands at the position is no fragment but for its header, and is one now.
  bool Mend(Fragment* fragment);
  // Whether what stands at the position, or the record that it belongs to, and all behind it is
  // one batch that was cut. After an error the log is at its end.
  bool IsTorn();
  void EndTorn();
  // Drops what stands at the position, which is no fragment, and finds where to go on.
  void PassBad();
  size_t BytesToPassBad();
  void Stop();
  // Reads the file to its end, from the position: what stands there?
  struct Beyond {
    bool zeros = true;      // nothing but
    bool fragment = false;  // a whole one
    bool begins = false;    // a whole one that begins a record
  };
  Beyond LookBeyond();
  void EndHere();
  void DropPartial(uint64_t end, std::string_view reason);
  void Report(uint64_t offset, uint64_t bytes, std::string_view reason);
  uint64_t position() const { return block_offset_ + at_; }

  SequentialFile* const file_;
  Reporter* const reporter_;
  const Mode mode_;
  RecordKind kind_ = RecordKind::kAny;
  FileSystem* files_ = nullptr;
  std::string path_;
  std::unique_ptr<RecordWindow> window_;  // where there is a path

  std::unique_ptr<char[]> buffer_;
  std::string_view block_;     // the current one
  uint64_t block_offset_ = 0;  // in the file
  size_t at_ = 0;              // the position, in the block
  bool searched_ = false;      // the position was searched for, or follows one of this block
  int mends_left_ = 0;         // in this block: a bound on their cost
  int judgements_left_ = 0;    // the same
  std::string_view reason_;    // of the last kBad

  // A record's fragments so far.
  std::string partial_;
  bool in_record_ = false;
  uint64_t partial_offset_ = 0;
  bool partial_searched_ = false;

  bool dropped_ = false;  // bytes that are wrong were passed over since the last record
  bool damaged_ = false;  // and before the last record
  bool misses_sector_ = false;
  bool misses_whole_sector_ = false;
  bool record_begins_beyond_ = false;
  bool cut_short_ = false;
  LogEnd end_ = LogEnd::kNotYet;
  Status status_;
  uint64_t record_offset_ = 0;
  uint64_t valid_bytes_ = 0;
};

}  // namespace weft::lsm
