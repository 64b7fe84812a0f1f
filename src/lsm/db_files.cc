// Which files of the store's folder may go, and the store's own log for people.
#include <string>
#include <vector>

#include "lsm/db_impl.h"
#include "lsm/file_names.h"

namespace weft::lsm {

// Deletes what no version, log or job needs any more. Lets go of the mutex while it does.
void DbImpl::RemoveObsoleteFilesLocked() {
  if (!background_error_.ok()) return;  // what the manifest holds is not certain
  mutex_.Unlock();
  std::vector<std::string> names;
  Status status = files_->GetChildren(dir_, &names);
  mutex_.Lock();
  if (!status.ok()) return;
  const std::vector<std::string> obsolete = versions_->ObsoleteFiles(names);
  if (obsolete.empty()) return;
  mutex_.Unlock();
  for (const std::string& name : obsolete) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    const std::string path = dir_ + "/" + name;
    if (parsed.type == FileType::kTable) tables_.Evict(parsed.number);
    // Another thread may have been first; what stays is found again next time.
    if (!files_->RemoveFile(path).ok() || parsed.type != FileType::kTable) continue;
    events_.Tell([path](EventListener* listener) { listener->OnTableDeleted(path); });
  }
  mutex_.Lock();
}

void DbImpl::OpenInfoLog() {
  if (options_.info_log != nullptr) {
    info_log_ = options_.info_log;
    return;
  }
  if (read_only_) return;
  // The log of the last time is kept.
  (void)files_->RenameFile(InfoLogFileName(dir_), OldInfoLogFileName(dir_));
  Result<std::shared_ptr<Logger>> log = NewFileLogger(files_, InfoLogFileName(dir_));
  if (log) info_log_ = std::move(*log);
}

void DbImpl::Log(const std::string& line) const {
  if (info_log_ != nullptr) info_log_->Log(line);
}

}  // namespace weft::lsm
