// weft::DestroyDb.
#include <string>
#include <vector>

#include "lsm/checked_options.h"
#include "lsm/close_mark.h"
#include "lsm/file_names.h"
#include "weft/db.h"

namespace weft {

namespace lsm {

namespace {

// Removes the files of a store from `dir`, if it is there; the first error is returned, the rest is
// still tried.
Status RemoveStoreFiles(FileSystem* files, const std::string& dir) {
  std::vector<std::string> names;
  Status first = files->GetChildren(dir, &names);
  if (first.code() == Code::kNotFound) return {};
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed) || parsed.type == FileType::kLock) continue;
    Status status = files->RemoveFile(dir + "/" + name);
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace

}  // namespace lsm

Status DestroyDb(const std::string& dir, const DbOptions& options) {
  Result<DbOptions> checked = lsm::CheckedOptions(options);
  if (!checked) return checked.error();
  FileSystem* const files = checked->file_system;
  std::vector<std::string> names;
  // Only what is not there is nothing to destroy: what can't be listed may hold a store.
  if (Status status = files->GetChildren(dir, &names); !status.ok())
    return status.code() == Code::kNotFound ? Status() : status;
  Result<std::unique_ptr<FileLock>> lock = files->LockFile(lsm::LockFileName(dir));
  if (!lock) return lock.error();
  Status status = lsm::RemoveStoreFiles(files, dir);
  const std::string lost = dir + "/lost";
  if (Status in_lost = lsm::RemoveStoreFiles(files, lost); status.ok()) status = in_lost;
  (void)files->RemoveDir(lost);
  if (files->FileExists(lsm::CloseMarkFileName(dir))) {
    (void)files->RemoveFile(lsm::CloseMarkFileName(dir));
  }
  lock->reset();
  (void)files->RemoveFile(lsm::LockFileName(dir));
  (void)files->RemoveDir(dir);  // stays where other files are in it
  return status;
}

}  // namespace weft
