#include "lsm/log_replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lsm/file_names.h"
#include "lsm/lost_sectors.h"
#include "lsm/torn_batch.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

Status LogReplay::Run(const std::vector<uint64_t>& logs, const Apply& apply) {
  for (const uint64_t number : logs) {
    whole_bytes_of_last_.reset();
    if (Status status = ReplayOne(number, apply); !status.ok()) return status;
    behind_empty_log_ = last_ == 0;
  }
  // A needed log that is gone: the manifest names the first one alone.
  const bool gone = mark_ && mark_->log_bytes > 0 && !logs.empty() &&
                    mark_->log_number > logs.front() &&
                    !std::ranges::binary_search(logs, mark_->log_number);
  if (!gone) return {};
  return Lose(mark_->log_number, mark_->log_bytes, Cause::kNotAsClosed, "it is missing");
}

Status LogReplay::ReplayOne(uint64_t number, const Apply& apply) {
  const std::string path = LogFileName(dir_, number);
  auto file = OpenLog(path);
  if (!file) return file.error();
  closed_ = mark_ && IsMarkedLog(number);
  if (closed_ && torn_) {
    ended_ = true;
    return Lose(number, 0, Cause::kNotAsClosed, "an earlier log is torn");
  }
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  bool broke = false;
  Status status = TakeRecords(number, &reader, apply, &broke);
  if (!status.ok() || broke) return status;
  if (reader.end() == LogEnd::kReadError) return reader.status();
  bool damaged = reader.end() == LogEnd::kDamaged;
  if (damaged) {
    Result<bool> torn = IsTorn(path, reader.valid_bytes());
    if (!torn) return torn.error();
    damaged = !*torn;
  }
  if (closed_ && reader.valid_bytes() < mark_->log_bytes) {
    ended_ = torn_ = true;
    return Lose(number, mark_->log_bytes - reader.valid_bytes(), Cause::kNotAsClosed,
                "it had " + std::to_string(mark_->log_bytes) + " bytes, of which only " +
                    std::to_string(reader.valid_bytes()) + " are intact");
  }
  return damaged ? EndDamaged(number, reader, apply) : EndTorn(number, reader);
}

// One that was found when the folder was listed. Whoever writes to the store may have deleted it
// since, between any two looks at it.
Result<std::unique_ptr<SequentialFile>> LogReplay::OpenLog(const std::string& path) const {
  auto file = files_->NewSequentialFile(path);
  if (file || file.error().code() != Code::kNotFound) return file;
  return Status(Code::kCorruption, path + " existed before and is now missing");
}

// Another store's log of the mark's number is told by its first record.
bool LogReplay::IsMarkedLog(uint64_t number) const {
  if (number != mark_->log_number) return false;
  auto file = files_->NewSequentialFile(LogFileName(dir_, number));
  if (!file) return true;
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  std::string_view record;
  if (!reader.Read(&record) || reader.record_offset() != 0) return true;
  return mark_->log_head == 0 || HeadOfLog(files_, dir_, number) == mark_->log_head;
}

// *broke: a record ended the replay.
Status LogReplay::TakeRecords(uint64_t number, LogReader* reader, const Apply& apply, bool* broke) {
  first_of_log_ = true;
  std::string_view record;
  while (reader->Read(&record)) {
    Break why = Break::kHole;
    if (!ended_) {
      if (Status status = Take(record, apply, &why); !status.ok()) return status;
    }
    if (why == Break::kNone) continue;
    *broke = true;
    const bool is_first = !std::exchange(ended_, true);
    auto bytes = files_->GetFileSize(LogFileName(dir_, number));
    const uint64_t lost = bytes ? *bytes - reader->record_offset() : record.size();
    if (closed_) {
      return Lose(number, lost, Cause::kNotAsClosed, "the records before its own are missing");
    }
    if (why == Break::kBadRecord) {
      return Lose(number, lost, Cause::kDamage,
                  "a record that cannot follow the one before, at byte " +
                      std::to_string(reader->record_offset()));
    }
    if (is_first && unexplained_.log != 0) {
      Status status = Lose(
          unexplained_.log, unexplained_.bytes, Cause::kDamage,
          "damaged at byte " + std::to_string(unexplained_.at) + ", although a later log follows");
      if (!status.ok()) return status;
    }
    return Lose(number, lost, Cause::kPowerCut, "records after a gap");
  }
  return {};
}

Result<bool> LogReplay::IsTorn(const std::string& path, uint64_t from) const {
  auto file = OpenLog(path);
  if (!file) return file.error();
  return IsTornBatch(file->get(), from, last_);
}

Result<bool> LogReplay::IsPowerCut(const std::string& path, const LogReader& reader) const {
  if (!reader.misses_sector()) return false;
  auto file = OpenLog(path);
  if (!file) return file.error();
  return ExplainedByLostSectors(file->get(), reader.valid_bytes(), last_);
}

Status LogReplay::EndDamaged(uint64_t number, const LogReader& reader, const Apply& apply) {
  Result<bool> power_cut = IsPowerCut(LogFileName(dir_, number), reader);
  if (!power_cut) return power_cut.error();
  if (*power_cut && !ended_) {
    const table::SequenceNumber before = last_;
    std::optional<uint64_t> end;
    Status status = TakeBehindZeros(LogFileName(dir_, number), reader.valid_bytes(), apply, &end);
    if (!status.ok()) return status;
    if (last_ != before) {
      if (!end) return {};
      ended_ = true;
      return Lose(number, reader.file_bytes() - *end, Cause::kPowerCut, "records after a gap");
    }
  }
  ended_ = true;
  torn_ = true;
  return Lose(number, reader.file_bytes() - reader.valid_bytes(),
              *power_cut ? Cause::kPowerCut : Cause::kDamage,
              "damaged at byte " + std::to_string(reader.valid_bytes()) +
                  ", although later records follow");
}

Status LogReplay::EndTorn(uint64_t number, const LogReader& reader) {
  if (reader.end() != LogEnd::kClean) {
    broke_off_ = torn_ = true;
    Result<bool> power_cut = IsPowerCut(LogFileName(dir_, number), reader);
    if (!power_cut) return power_cut.error();
    // No crash leaves this where a later log was begun; what is wrong at the very end may be one's.
    if (!*power_cut && !reader.cut_short()) {
      unexplained_ = {number, reader.valid_bytes(), reader.file_bytes() - reader.valid_bytes()};
    }
  }
  // Zeros at the end: room never used, or records that a power cut took away.
  if (reader.valid_bytes() < reader.file_bytes()) broke_off_ = true;
  if (!ended_) whole_bytes_of_last_ = reader.valid_bytes();
  return {};
}

Status LogReplay::TakeBehindZeros(const std::string& path, uint64_t gap, const Apply& apply,
                                  std::optional<uint64_t>* end) {
  auto file = OpenLog(path);
  if (!file) return file.error();
  LogReader reader(file->get(), nullptr, LogReader::Mode::kNextBlock);
  std::string_view record;
  while (reader.Read(&record)) {
    if (reader.record_offset() < gap) continue;
    Break why = Break::kHole;
    const bool follows = record.size() >= WriteBatchInternal::kHeaderBytes && last_ != 0 &&
                         WriteBatchInternal::SequenceOf(record) == last_ + 1;
    if (follows) {
      if (Status status = Take(record, apply, &why); !status.ok()) return status;
    }
    if (why == Break::kNone) continue;
    *end = reader.record_offset();
    return {};
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  if (reader.valid_bytes() < reader.file_bytes()) broke_off_ = true;
  return {};
}

Status LogReplay::Take(std::string_view record, const Apply& apply, Break* why) {
  *why = Break::kBadRecord;
  if (record.size() < WriteBatchInternal::kHeaderBytes) return {};
  if (!WriteBatchInternal::Check(record).ok()) return {};
  const table::SequenceNumber first = WriteBatchInternal::SequenceOf(record);
  const uint32_t count = WriteBatchInternal::CountOf(record);
  if (first <= last_ || first > table::kSequenceMax - count) return {};
  *why = Break::kHole;
  if (!GoesOn(first)) return {};
  *why = Break::kNone;
  broke_off_ = false;
  first_of_log_ = false;
  if (count > 0) last_ = first + count - 1;
  return apply(record);
}

// Whether no write is missing between the last one taken and `first`.
bool LogReplay::GoesOn(table::SequenceNumber first) const {
  if (last_ == 0 && !behind_empty_log_) return true;
  if (last_ != 0 && first == last_ + 1) return true;
  if (broke_off_) return false;
  return !first_of_log_ || first <= recorded_ + 1;
}

Status LogReplay::Lose(uint64_t number, uint64_t bytes, Cause cause, const std::string& why) {
  const std::string path = LogFileName(dir_, number);
  const bool closed = cause == Cause::kNotAsClosed;
  std::string text = path + ": ";
  if (closed) text += "changed since the store was closed: ";
  text += why;
  logs_with_losses_.push_back(number);
  const bool refused = closed ? rule_ != LogDamage::kPassOverEven
                              : cause == Cause::kDamage && rule_ == LogDamage::kRefuse;
  if (refused) return {Code::kCorruption, text + ": repair the store"};
  damages_.push_back({path, bytes, Status(Code::kCorruption, std::move(text))});
  return {};
}

}  // namespace weft::lsm
