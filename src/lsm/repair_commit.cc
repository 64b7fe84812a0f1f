// The end of a repair: from the store as it was to the store as it will be, in one step.
//
// Until CURRENT names the new manifest the store is what it was, and all its files are there. From
// then on it is the repaired one, whatever becomes of the files that it no longer needs: they have
// second names in lost already, and the manifest's log number is above theirs, so that no log whose
// writes are in tables is replayed over newer ones. That number needs a log: an empty one.
#include <utility>

#include "lsm/close_mark.h"
#include "lsm/file_names.h"
#include "lsm/log_writer.h"
#include "lsm/lost_files.h"
#include "lsm/repair.h"

namespace weft::lsm {

Status Repair::Commit() {
  Status status = WriteManifest();
  LostFiles lost(files_, dir_);
  // What is no file has no second name, and nothing that the store needs.
  std::erase_if(to_give_up_, [&](const std::string& name) {
    if (lost.IsFile(name)) return false;
    names_alone_.push_back(name);
    return true;
  });
  for (const std::string& name : to_give_up_) {
    std::string kept;
    if (status.ok()) status = lost.Keep(name, &next_file_, &kept);
    if (status.ok() && kept != name) Say(PathOf(name) + " is kept as lost/" + kept);
  }
  // Nothing can be renamed over a folder, and one is not what names a manifest.
  const std::string current = CurrentFileName(dir_).substr(dir_.size() + 1);
  if (status.ok() && !lost.IsFile(current)) {
    std::string kept;
    status = lost.Move(current, &next_file_, &kept);
  }
  if (status.ok()) status = lost.Sync();
  if (!status.ok()) return status;
  in_doubt_ = true;  // CURRENT may name it from here on
  status = SetCurrentFile(files_, dir_, manifest_number_);
  if (!status.ok()) return status;
  MoveNames(&lost);
  RemoveOldFiles();
  return {};
}

void Repair::MoveNames(LostFiles* lost) {
  for (const std::string& name : names_alone_) {
    std::string kept;
    const Status status = lost->Move(name, &next_file_, &kept);
    Say(status.ok() ? PathOf(name) + " is not a file; it was moved to lost/" + kept
                    : status.ToString());
  }
}

Status Repair::WriteManifest() {
  VersionEdit edit;
  edit.comparator = options_.comparator->Name();
  edit.log_number = next_file_++;
  edit.prev_log_number = 0;
  edit.last_sequence = report_.last_sequence;
  for (const Kept& kept : kept_) edit.new_files.push_back(kept.file);
  manifest_number_ = next_file_++;
  edit.next_file_number = next_file_;
  std::string record;
  edit.EncodeTo(&record);
  auto log = Make(LogFileName(dir_, *edit.log_number), FileUse::kLog);
  if (!log) return log.error();
  Status status = (*log)->Sync();
  if (status.ok()) status = (*log)->Close();
  if (!status.ok()) return status;
  // A manifest that survives a power cut must find the tables and the log that it names.
  status = files_->SyncDir(dir_);
  if (!status.ok()) return status;
  auto manifest = Make(ManifestFileName(dir_, manifest_number_), FileUse::kManifest);
  if (!manifest) return manifest.error();
  status = LogWriter(manifest->get()).AddRecord(record);
  if (status.ok()) status = (*manifest)->Sync();
  if (status.ok()) status = (*manifest)->Close();
  return status.ok() ? files_->SyncDir(dir_) : status;
}

// Only what the store needs no more: where one of them stays, the next opening deletes it.
void Repair::RemoveOldFiles() {
  if (files_->FileExists(CloseMarkFileName(dir_))) {
    (void)files_->RemoveFile(CloseMarkFileName(dir_));  // it names a log that is gone
  }
  for (const std::string& name : to_give_up_) {
    const Status status = files_->RemoveFile(PathOf(name));
    if (!status.ok()) Say(status.ToString() + " (it is also in lost/)");
  }
  for (const std::string& path : superseded_) {
    const Status status = files_->RemoveFile(path);
    if (!status.ok()) Say(status.ToString());
  }
  if (const Status status = files_->SyncDir(dir_); !status.ok()) Say(status.ToString());
}

// After an error: the store is as it was, and what this run has made is in nobody's way.
void Repair::RemoveNewFiles() {
  if (in_doubt_) return;
  for (const std::string& path : made_) {
    if (files_->FileExists(path)) (void)files_->RemoveFile(path);
  }
}

Result<std::unique_ptr<WritableFile>> Repair::Make(const std::string& path, FileUse use) {
  made_.insert(path);
  return files_->NewWritableFile(path, use);
}

// A table that the store will not have. What this run made of others is in them.
void Repair::GiveUpTable(const std::string& path) {
  if (made_.contains(path)) {
    superseded_.push_back(path);
  } else {
    to_give_up_.push_back(path.substr(dir_.size() + 1));
  }
}

}  // namespace weft::lsm
