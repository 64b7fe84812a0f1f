// What a repair takes of a log: every whole record, as tables of level 0.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/read_around.h"
#include "lsm/file_names.h"
#include "lsm/log_reader.h"
#include "lsm/repair.h"
#include "lsm/table_check.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

class DropCounter final : public LogReader::Reporter {
 public:
  void Dropped(uint64_t, uint64_t bytes, std::string_view) override { bytes_ += bytes; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

// Which records of a log have numbers that a store may have given them. Numbers that do not rise
// were never written by a store: nothing may hide what is newer. One that was searched for may be a
// value's. No more numbers can be missing before it than the bytes that are passed over had room
// for, so that it hides nothing that stands behind it.
class Numbers {
 public:
  // `before`: no number is missing between it and the log's first, where that is known.
  Numbers(FileSystem* files, std::string path, std::optional<table::SequenceNumber> before)
      : files_(files), path_(std::move(path)), before_(before) {}

  // The last number that was taken.
  table::SequenceNumber last() const { return last_; }
  // Whether `record`, which `reader` has read last, is taken.
  bool Take(const LogReader& reader, std::string_view record) {
    if (record.size() < WriteBatchInternal::kHeaderBytes ||
        !WriteBatchInternal::Check(record).ok()) {
      return false;
    }
    const table::SequenceNumber first = WriteBatchInternal::SequenceOf(record);
    const uint32_t count = WriteBatchInternal::CountOf(record);
    if (first <= last_ || first > table::kSequenceMax - count) return false;
    if (count == 0) return true;
    const table::SequenceNumber last = first + count - 1;
    if (reader.record_was_searched()) {
      if (!MayBeOfTheLog(reader, first, last)) return false;
    } else {
      sure_ = {last, reader.valid_bytes()};
    }
    last_ = last;
    return true;
  }

 private:
  struct At {
    table::SequenceNumber number = 0;  // 0: there is none
    uint64_t offset = 0;
    bool is_sure = true;
  };

  bool MayBeOfTheLog(const LogReader& reader, table::SequenceNumber first,
                     table::SequenceNumber last) {
    if (sure_.number != 0) {
      return first - sure_.number <= reader.record_offset() - sure_.offset;
    }
    if (!next_sure_) next_sure_ = FirstSure();
    const bool is_near =
        !before_ || first <= *before_ || first - *before_ <= reader.record_offset();
    if (!next_sure_->is_sure && !is_near) return false;
    if (next_sure_->offset <= reader.record_offset()) return true;
    return last < next_sure_->number &&
           next_sure_->number - last <= next_sure_->offset - reader.record_offset();
  }
  // The first record that was not searched for; where there is none, the last, which stands behind
  // all values but its own.
  At FirstSure() const {
    auto file = base::AroundFile::Open(files_, path_);
    if (!file) return {};
    LogReader reader(file->get(), nullptr, LogReader::Mode::kSalvage);
    reader.ExpectBatches(files_, path_);
    At found;
    std::string_view record;
    while (reader.Read(&record)) {
      if (record.size() < WriteBatchInternal::kHeaderBytes) continue;
      if (!WriteBatchInternal::Check(record).ok()) continue;
      found = {WriteBatchInternal::SequenceOf(record), reader.record_offset(),
               !reader.record_was_searched()};
      if (!reader.record_was_searched()) break;
    }
    return found;
  }

  FileSystem* const files_;
  const std::string path_;
  const std::optional<table::SequenceNumber> before_;
  table::SequenceNumber last_ = 0;
  At sure_;                      // the last that was not searched for
  std::optional<At> next_sure_;  // where there was none yet: the first to come
};

}  // namespace

Status Repair::TakeLog(uint64_t number) {
  const std::string path = LogFileName(dir_, number);
  auto file = base::AroundFile::Open(files_, path);
  if (!file) {
    if (!IsOfTheFile(file.error())) return file.error();
    Say(file.error().ToString() + ": nothing of it is taken");
    return {};
  }
  DropCounter dropped;
  LogReader reader(file->get(), &dropped, LogReader::Mode::kSalvage);
  auto memtable = std::make_unique<MemTable>(comparator_);
  reader.ExpectBatches(files_, path);
  Numbers numbers(files_, path, before_log_);
  std::string_view record;
  uint64_t refused = 0;
  while (reader.Read(&record)) {
    const bool is_first = numbers.last() == 0;
    if (!numbers.Take(reader, record)) {
      refused += record.size();
      continue;
    }
    // Takes no number: the next record has the same one.
    if (WriteBatchInternal::CountOf(record) == 0) continue;
    // Level 0 hides what is deeper: only where all of the log is newer.
    unplaced_ |= is_first && WriteBatchInternal::SequenceOf(record) <= newest_of_tables_;
    if (Status status = WriteBatchInternal::InsertInto(record, memtable.get()); !status.ok()) {
      return status;
    }
    if (memtable->MemoryUsage() <= options_.write_buffer_size) continue;
    if (Status status = WriteMemTable(*memtable); !status.ok()) return status;
    memtable = std::make_unique<MemTable>(comparator_);
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  NoteUnreadable((*file)->unreadable(), path);
  report_.logs++;
  report_.log_bytes_dropped += dropped.bytes() + refused;
  if (before_log_ || numbers.last() != 0) {
    before_log_ = std::max(before_log_.value_or(0), numbers.last()) + dropped.bytes() + refused;
  }
  if (dropped.bytes() + refused > 0) {
    Say(path + ": passed over " + std::to_string(dropped.bytes() + refused) + " bytes");
  }
  return WriteMemTable(*memtable);
}

Status Repair::WriteMemTable(const MemTable& memtable) {
  const auto entries = memtable.NewIterator();
  entries->SeekToFirst();
  if (!entries->Valid()) return entries->status();
  const uint64_t number = next_file_++;
  const std::string path = TableFileName(dir_, number);
  auto file = Make(path, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format_, file->get());
  for (; entries->Valid(); entries->Next()) builder.Add(entries->key(), entries->value());
  Status status = builder.Finish();
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  Kept kept;
  kept.file.number = number;
  kept.file.level = 0;
  if (status.ok()) status = Measure(path, &kept);
  if (status.ok()) kept_.push_back(std::move(kept));
  return status;
}

}  // namespace weft::lsm
