// What a repair takes of a log: every whole record, as tables of level 0.
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
  table::SequenceNumber last = 0;
  std::string_view record;
  uint64_t refused = 0;
  while (reader.Read(&record)) {
    // Numbers that do not rise were never written by a store: nothing may hide what is newer.
    if (record.size() < WriteBatchInternal::kHeaderBytes ||
        !WriteBatchInternal::Check(record).ok() || WriteBatchInternal::SequenceOf(record) <= last ||
        WriteBatchInternal::SequenceOf(record) >
            table::kSequenceMax - WriteBatchInternal::CountOf(record)) {
      refused += record.size();
      continue;
    }
    const uint32_t count = WriteBatchInternal::CountOf(record);
    if (count == 0) continue;  // takes no number: the next record has the same one
    // Level 0 hides what is deeper: only where all of the log is newer.
    unplaced_ |= last == 0 && WriteBatchInternal::SequenceOf(record) <= newest_of_tables_;
    last = WriteBatchInternal::SequenceOf(record) + count - 1;
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
