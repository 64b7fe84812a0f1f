#include "lsm/log_replay.h"

#include <charconv>
#include <utility>

#include "base/coding.h"
#include "base/crc32c.h"
#include "lsm/file_names.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

std::string MarkText(const CloseMark& mark) {
  std::string text = std::to_string(mark.log_number) + " " + std::to_string(mark.log_bytes);
  return text + " " + std::to_string(base::Crc32c(text)) + "\n";
}

// Takes a number and the character behind it off the front of *text.
bool TakeNumber(std::string_view* text, char behind, uint64_t* number) {
  const char* const end = text->data() + text->size();
  const auto [next, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc() || next == end || *next != behind) return false;
  text->remove_prefix(static_cast<size_t>(next + 1 - text->data()));
  return true;
}

}  // namespace

std::string CloseMarkFileName(const std::string& dir) { return dir + "/CLOSED"; }

Status CloseMark::Write(FileSystem* files, const std::string& dir) const {
  auto file = files->NewWritableFile(CloseMarkFileName(dir), FileUse::kOther);
  if (!file) return file.error();
  Status status = (*file)->Append(MarkText(*this));
  return status.ok() ? (*file)->Close() : status;
}

std::optional<CloseMark> CloseMark::Read(FileSystem* files, const std::string& dir) {
  auto file = files->NewSequentialFile(CloseMarkFileName(dir));
  if (!file) return std::nullopt;
  char scratch[128];
  std::string_view text;
  if (!(*file)->Read(sizeof scratch, &text, scratch).ok()) return std::nullopt;
  CloseMark mark;
  std::string_view rest = text;
  if (!TakeNumber(&rest, ' ', &mark.log_number) || !TakeNumber(&rest, ' ', &mark.log_bytes)) {
    return std::nullopt;
  }
  if (text != MarkText(mark)) return std::nullopt;
  return mark;
}

Status LogReplay::Run(const std::vector<uint64_t>& logs, const Apply& apply) {
  mark_ = CloseMark::Read(files_, dir_);
  for (const uint64_t number : logs) {
    whole_bytes_of_last_.reset();
    if (Status status = ReplayOne(number, apply); !status.ok()) return status;
    behind_empty_log_ = last_ == 0;
  }
  return {};
}

Status LogReplay::ReplayOne(uint64_t number, const Apply& apply) {
  const std::string path = LogFileName(dir_, number);
  auto file = files_->NewSequentialFile(path);
  if (!file) return file.error();
  const bool closed = mark_ && mark_->log_number == number;
  if (closed && torn_) return NotAsClosed(path, "a log before it is torn");
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  std::string_view record;
  first_of_log_ = true;
  while (reader.Read(&record)) {
    Break why = Break::kHole;
    if (!ended_) {
      if (Status status = Take(record, apply, &why); !status.ok()) return status;
    }
    if (why == Break::kNone) continue;
    if (closed) return NotAsClosed(path, "what its records follow is missing");
    ended_ = true;
    auto bytes = files_->GetFileSize(path);
    const uint64_t lost = bytes ? *bytes - reader.record_offset() : record.size();
    return why == Break::kHole ? Lose(number, lost, Cause::kPowerCut, "records that follow a hole")
                               : Lose(number, lost, Cause::kDamage,
                                      "no write that could follow, at byte " +
                                          std::to_string(reader.record_offset()));
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  if (closed && reader.valid_bytes() < mark_->log_bytes) {
    return NotAsClosed(path, std::to_string(mark_->log_bytes) + " bytes were in it, and only " +
                                 std::to_string(reader.valid_bytes()) + " are whole");
  }
  if (reader.end() == LogEnd::kDamaged && reader.misses_sector() && !ended_) {
    const table::SequenceNumber before = last_;
    std::optional<uint64_t> end;
    Status status = TakeBehindZeros(path, reader.valid_bytes(), apply, &end);
    if (!status.ok()) return status;
    if (last_ != before) {
      if (!end) return {};
      ended_ = true;
      return Lose(number, reader.file_bytes() - *end, Cause::kPowerCut,
                  "records that follow a hole");
    }
  }
  if (reader.end() == LogEnd::kDamaged) {
    ended_ = true;
    torn_ = true;
    return Lose(number, reader.file_bytes() - reader.valid_bytes(),
                reader.misses_sector() ? Cause::kPowerCut : Cause::kDamage,
                "damaged at byte " + std::to_string(reader.valid_bytes()));
  }
  if (reader.end() == LogEnd::kTorn) broke_off_ = torn_ = true;
  // Zeros at the end: room never used, or records that a power cut took away.
  if (reader.valid_bytes() < reader.file_bytes()) broke_off_ = true;
  if (!ended_) whole_bytes_of_last_ = reader.valid_bytes();
  return {};
}

Status LogReplay::TakeBehindZeros(const std::string& path, uint64_t gap, const Apply& apply,
                                  std::optional<uint64_t>* end) {
  auto file = files_->NewSequentialFile(path);
  if (!file) return file.error();
  LogReader reader(file->get(), nullptr, LogReader::Mode::kSalvage);
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

Status LogReplay::NotAsClosed(const std::string& path, const std::string& why) const {
  return {Code::kCorruption, path + ": the store was closed, and is not as it was: " + why};
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
  Status what(Code::kCorruption, path + ": " + why);
  if (paranoid_ && cause == Cause::kDamage) return what;
  damages_.push_back({path, bytes, std::move(what)});
  logs_with_losses_.push_back(number);
  return {};
}

}  // namespace weft::lsm
