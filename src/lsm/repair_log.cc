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
// were never written by a store: nothing may hide what is newer.
class Numbers {
 public:
  // The last number that was taken.
  table::SequenceNumber last() const { return last_; }
  bool Take(std::string_view record) {
    const auto numbers = NumbersOf(RecordKind::kBatch, record);
    if (!numbers || numbers->first <= last_) return false;
    last_ = std::max(last_, numbers->last);
    return true;
  }

 private:
  table::SequenceNumber last_ = 0;
};

}  // namespace

Status Repair::TakeLog(uint64_t number) {
  const std::string path = LogFileName(dir_, number);
  auto file = base::AroundFile::Open(files_, path);
  if (!file) {
    if (!IsOfTheFile(file.error())) return file.error();
    before_log_.reset();
    Say(file.error().ToString() + ": none of it is used");
    return {};
  }
  DropCounter dropped;
  LogReader reader(file->get(), &dropped, LogReader::Mode::kSalvage);
  auto memtable = std::make_unique<MemTable>(comparator_);
  reader.Expect(RecordKind::kBatch, files_, path, std::exchange(before_log_, std::nullopt));
  Numbers numbers;
  bool ends_whole = false;  // its end is a record's that is sure
  std::string_view record;
  uint64_t refused = 0;
  while (reader.Read(&record)) {
    const bool is_first = numbers.last() == 0;
    ends_whole = false;
    if (!numbers.Take(record)) {
      refused += record.size();
      continue;
    }
    ends_whole = !reader.record_was_searched();
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
  // A log that another follows was not left empty. Of one that is cut nobody knows how far it went.
  if (ends_whole && numbers.last() != 0 && reader.valid_bytes() == reader.file_bytes()) {
    before_log_ = numbers.last();
  }
  if (dropped.bytes() + refused > 0) {
    Say(path + ": skipped " + std::to_string(dropped.bytes() + refused) + " bytes");
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
