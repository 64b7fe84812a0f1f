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
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  std::string_view record;
  bool taken = !ended_;
  while (reader.Read(&record)) {
    if (!ended_) {
      if (Status status = Take(record, apply, &taken); !status.ok()) return status;
    }
    if (taken) continue;
    ended_ = true;
    auto bytes = files_->GetFileSize(path);
    const uint64_t lost = bytes ? *bytes - reader.record_offset() : record.size();
    return Lose(number, lost, "records that follow a hole");
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  const bool marked = mark_ && mark_->log_number == number;
  if (marked && reader.valid_bytes() < mark_->log_bytes) {
    return {Code::kCorruption, path + ": the store was closed with " +
                                   std::to_string(mark_->log_bytes) + " bytes in it, and only " +
                                   std::to_string(reader.valid_bytes()) + " are whole"};
  }
  if (reader.end() == LogEnd::kClean) {
    // Zeros at the end: room never used, or records that a power cut took away.
    if (reader.valid_bytes() < reader.file_bytes()) broke_off_ = true;
    if (!ended_) whole_bytes_of_last_ = reader.valid_bytes();
    return {};
  }
  broke_off_ = true;
  if (reader.end() == LogEnd::kTorn) {
    if (!ended_) whole_bytes_of_last_ = reader.valid_bytes();
    return {};
  }
  ended_ = true;
  return Lose(number, reader.file_bytes() - reader.valid_bytes(),
              "damaged at byte " + std::to_string(reader.valid_bytes()));
}

// *taken becomes false where the record does not go on where the ones before it ended.
Status LogReplay::Take(std::string_view record, const Apply& apply, bool* taken) {
  *taken =
      record.size() >= WriteBatchInternal::kHeaderBytes && WriteBatchInternal::Check(record).ok();
  if (!*taken) return {};
  const table::SequenceNumber first = WriteBatchInternal::SequenceOf(record);
  const uint32_t count = WriteBatchInternal::CountOf(record);
  // Without a break numbers may be passed over: a write that failed, an ingested table.
  bool goes_on = !broke_off_ || first == last_ + 1;
  if (last_ == 0) goes_on = !behind_empty_log_ || (!broke_off_ && first <= recorded_ + 1);
  *taken = first > last_ && goes_on && first + count <= table::kSequenceMax;
  if (!*taken) return {};
  broke_off_ = false;
  if (count > 0) last_ = first + count - 1;
  return apply(record);
}

Status LogReplay::Lose(uint64_t number, uint64_t bytes, const std::string& why) {
  const std::string path = LogFileName(dir_, number);
  Status what(Code::kCorruption, path + ": " + why);
  if (paranoid_) return what;
  damages_.push_back({path, bytes, std::move(what)});
  logs_with_losses_.push_back(number);
  return {};
}

}  // namespace weft::lsm
