// lsm/log_reader.h: reads the records of a log or manifest file, whatever state it is in.
//
//   LogReader reader(file.get(), &reporter, LogReader::Mode::kStop);
//   std::string_view record;
//   while (reader.Read(&record)) replay(record);
//   if (reader.end() == LogEnd::kDamaged) ...
//
// A log is appended to, so a crash leaves its end torn: half a record, or room that was never
// written. Damage is something else: whole records, or parts of one, follow it. A reader that stops
// (kStop) delivers everything before the first wrong byte and then says which of the two it met.
// One that salvages (kSalvage) goes on with the next whole record, wherever that is
// (lsm/log_resync.h), and takes a record if only its header is wrong. It searches no write that was
// cut, because a value may be a copy of some log. With kNextBlock it goes on only where a length
// that can be trusted leads, or where the next block begins.
//
// A kFirst followed by nothing but a new record is no damage. Its writer gave up and reported no
// success, and the next writer put its record there. All modes report and skip it.
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
  kClean,      // behind a record; or only zeros follow;
  kTorn,       // bytes that are no record follow; no whole fragment after them;
  kDamaged,    // as kTorn, but whole fragments follow the wrong bytes
  kReadError,  // the file could not be read: see status()
};

class LogReader {
 public:
  enum class Mode : uint8_t { kStop, kSalvage, kNextBlock };

  // Hears of every byte that belongs to no delivered record, except zeros.
  class Reporter {
   public:
    virtual ~Reporter() = default;
    // `bytes` at `offset` of the file were dropped.
    virtual void Dropped(uint64_t offset, uint64_t bytes, std::string_view reason) = 0;
    // The header at `offset` is wrong, but its checksum gives the right one: nothing was dropped.
    virtual void Mended(uint64_t /*offset*/) {}
  };

  // `file` is at its first byte and, with `reporter` (may be null), must outlive the reader.
  LogReader(SequentialFile* file, Reporter* reporter, Mode mode);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  ~LogReader();

  // The kind of the file's records: where records are searched for, it tells them from copies in
  // values. Call it before Read.
  void Expect(RecordKind kind) { kind_ = kind; }
  // The same, and reads the file once more, around unreadable places. That serves to look behind a
  // place that is searched (lsm/record_window.h). It also finds a single batch that was cut
  // (lsm/torn_batch.h): that is not searched, and ends the log. `before`: the last number before
  // this file, if it is known.
  void Expect(RecordKind kind, FileSystem* files, std::string path,
              std::optional<uint64_t> before = std::nullopt);
  // The next record, valid until the next call; false at the end.
  bool Read(std::string_view* record);

  LogEnd end() const { return end_; }
  // Ok unless the file could not be read.
  const Status& status() const { return status_; }
  // About the end of a log in mode kStop, where it is no record: a sector that it touches ends in
  // zeros, as after a power cut that took the sector, or all of it since the last sync; or a sync
  // met it before its head was visible. Otherwise it is damage: nothing written and not synced can
  // have become this.
  bool misses_sector() const { return misses_sector_; }
  // The same for a file whose records are each synced before the next: all of it in that sector.
  bool misses_whole_sector() const { return misses_whole_sector_; }
  // In mode kStop, a whole fragment that begins a record follows the end. If none does, all that
  // follows may be the rest of one record.
  bool record_begins_beyond() const { return record_begins_beyond_; }
  // By its header, the last fragment reaches beyond the file's end: the file may have been cut.
  bool cut_short() const { return cut_short_; }
  // Where the last delivered record begins, and where it ends. Up to there the file is whole (in
  // mode kStop), and may be cut there before it is appended to.
  uint64_t record_offset() const { return record_offset_; }
  // It was found in its block after a search: it may lie in a value.
  bool record_was_searched() const { return partial_searched_; }
  uint64_t valid_bytes() const { return valid_bytes_; }
  // Bytes of the file, as far as it was read: all of it once Read has returned false.
  uint64_t file_bytes() const { return block_offset_ + block_.size(); }

 private:
  struct Fragment {
    FragmentType type = FragmentType::kZero;
    std::string_view payload;
    uint64_t offset = 0;  // of its header, in the file
  };
  enum class Next : uint8_t { kFragment, kEnd, kBad };

  // Looks at the position. kFragment: a whole one, and the position moves behind it; kBad: there is
  // none, and the position stays; kEnd: no byte is left, or the file cannot be read.
  Next NextFragment(Fragment* fragment);
  // Makes the next block the current one; false at the end and after an error.
  bool NextBlock();
  // Whether a whole fragment stands at `at` of the block; `reason_` says why not.
  bool ParseAt(size_t at, Fragment* fragment);
  // Adds a fragment to the record; true if the record is whole now, and in *record.
  bool Take(const Fragment& fragment, std::string_view* record);
  // No fragment stands at the position: is it for want of a sector, or of an end?
  void LookForLostSector();
  bool CutShort() const;
  // If only the header at the position is wrong, mends it: then it is a fragment.
  bool Mend(Fragment* fragment);
  // Whether the bytes at the position, or the record that they belong to, are one batch that was
  // cut, with all that follows. After an error the log is at its end.
  bool IsTorn();
  void EndTorn();
  // Drops the bytes at the position, which are no fragment, and finds where to go on.
  void PassBad();
  size_t BytesToPassBad();
  void Stop();
  // Reads the file from the position to its end: what is there?
  struct Beyond {
    bool zeros = true;      // nothing but zeros
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
  std::unique_ptr<RecordWindow> window_;  // if there is a path

  std::unique_ptr<char[]> buffer_;
  std::string_view block_;     // the current one
  uint64_t block_offset_ = 0;  // in the file
  size_t at_ = 0;              // the position, in the block
  bool searched_ = false;      // the position was searched for, or follows one in this block
  int mends_left_ = 0;         // in this block: a bound on their cost
  int judgements_left_ = 0;    // the same, for IsTorn
  std::string_view reason_;    // of the last kBad

  // A record's fragments so far.
  std::string partial_;
  bool in_record_ = false;
  uint64_t partial_offset_ = 0;
  bool partial_searched_ = false;

  bool dropped_ = false;  // wrong bytes were skipped since the last record
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
