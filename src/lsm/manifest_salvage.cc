#include "lsm/manifest_salvage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lsm/foreign_store.h"
#include "lsm/log_reader.h"
#include "lsm/manifest.h"

namespace weft::lsm {

namespace {

// Tables by their number alone: where a record is lost that moved one, a later one may name it at
// a level where it is not known.
void Take(VersionEdit edit, std::map<uint64_t, NewFile>* tables, SalvagedManifest* manifest) {
  for (const auto& [level, number] : edit.removed_files) {
    tables->erase(number);
    manifest->removed.insert(number);
  }
  for (NewFile& file : edit.new_files) {
    manifest->removed.erase(file.number);
    (*tables)[file.number] = std::move(file);
  }
  VersionEdit* const sum = &manifest->edit;
  if (edit.comparator) sum->comparator = std::move(edit.comparator);
  if (edit.log_number) sum->log_number = edit.log_number;
  if (edit.prev_log_number) sum->prev_log_number = edit.prev_log_number;
  if (edit.next_file_number) sum->next_file_number = edit.next_file_number;
  if (edit.last_sequence) sum->last_sequence = edit.last_sequence;
}

// Whether one that was searched for may be the manifest's.
bool GoesOn(const VersionEdit& edit, const VersionEdit& sum) {
  return edit.next_file_number && edit.log_number && edit.last_sequence && !edit.comparator &&
         *edit.next_file_number >= sum.next_file_number.value_or(0) &&
         *edit.log_number >= sum.log_number.value_or(0) &&
         *edit.last_sequence >= sum.last_sequence.value_or(0);
}

class LossNote final : public LogReader::Reporter {
 public:
  explicit LossNote(SalvagedManifest* manifest) : manifest_(manifest) {}
  void Dropped(uint64_t, uint64_t, std::string_view) override { Lose(); }
  void Lose() {
    if (manifest_->lost_records) return;
    manifest_->lost_records = true;
    manifest_->sequence_before_loss = manifest_->edit.last_sequence.value_or(0);
  }

 private:
  SalvagedManifest* const manifest_;
};

}  // namespace

Result<SalvagedManifest> SalvageManifest(SequentialFile* file, FileSystem* files,
                                         const std::string& path) {
  SalvagedManifest manifest;
  LossNote loss(&manifest);
  LogReader reader(file, &loss, LogReader::Mode::kSalvage);
  reader.Expect(RecordKind::kEdit, files, path);
  std::map<uint64_t, NewFile> tables;
  std::string_view record;
  while (reader.Read(&record)) {
    VersionEdit edit;
    if (!edit.DecodeFrom(record).ok() || !CheckFileNumbers(edit, "").ok()) {
      manifest.of_rocksdb |= IsRocksDbEdit(record);
      loss.Lose();
      continue;
    }
    if (reader.record_was_searched() && !GoesOn(edit, manifest.edit)) {
      loss.Lose();
      continue;
    }
    manifest.records++;
    if (reader.record_offset() == 0) manifest.has_beginning = edit.comparator.has_value();
    Take(std::move(edit), &tables, &manifest);
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  if (reader.end() != LogEnd::kClean) loss.Lose();
  if (!manifest.lost_records) {
    manifest.sequence_before_loss = manifest.edit.last_sequence.value_or(0);
  }
  manifest.valid_bytes = reader.valid_bytes();
  for (auto& [number, table] : tables) manifest.edit.new_files.push_back(std::move(table));
  return manifest;
}

}  // namespace weft::lsm
