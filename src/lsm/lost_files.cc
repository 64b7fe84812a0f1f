#include "lsm/lost_files.h"

#include <algorithm>
#include <vector>

#include "lsm/file_names.h"
#include "lsm/limits.h"
#include "lsm/store_copy.h"

namespace weft::lsm {

namespace {

// What the file `name` would be called if it had this number.
std::string Renumbered(const std::string& name, uint64_t number) {
  ParsedFileName parsed;
  if (!ParseFileName(name, &parsed)) return name;
  switch (parsed.type) {
    case FileType::kLog: return LogFileName("", number).substr(1);
    case FileType::kManifest: return ManifestFileName("", number).substr(1);
    case FileType::kTable:
      return (name.ends_with(".sst") ? OldTableFileName("", number) : TableFileName("", number))
          .substr(1);
    default: return name;
  }
}

}  // namespace

Status LostFiles::Count(uint64_t* next_number) const {
  std::vector<std::string> names;
  Status status = files_->GetChildren(lost_, &names);
  if (!status.ok()) return files_->FileExists(lost_) ? status : Status();
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed) || parsed.number > kFileNumberMax) continue;
    *next_number = std::max(*next_number, parsed.number + 1);
  }
  return {};
}

Status LostFiles::Keep(const std::string& name, uint64_t* next_number, std::string* kept) {
  if (!made_) {
    if (Status status = files_->CreateDir(lost_); !status.ok()) return status;
    made_ = true;
  }
  const std::string from = dir_ + "/" + name;
  *kept = name;
  if (files_->FileExists(lost_ + "/" + name)) {
    auto same = HoldTheSame(files_, from, lost_ + "/" + name);
    if (!same) return same.error();
    if (*same) return {};
    *kept = Renumbered(name, (*next_number)++);
  }
  ParsedFileName parsed;
  (void)ParseFileName(*kept, &parsed);
  return LinkOrCopyTo(from, lost_ + "/" + *kept, parsed.number);
}

Status LostFiles::LinkOrCopyTo(const std::string& from, const std::string& to, uint64_t number) {
  Status status = files_->LinkFile(from, to);
  if (status.code() != Code::kUnsupported) return status;
  const std::string temporary = TempFileName(lost_, number);
  status = CopyFile(files_, from, temporary);
  if (status.ok()) status = files_->RenameFile(temporary, to);
  if (!status.ok()) (void)files_->RemoveFile(temporary);
  return status;
}

Status LostFiles::Sync() {
  if (!made_) return {};
  Status status = files_->SyncDir(lost_);
  return status.ok() ? files_->SyncDir(dir_) : status;
}

}  // namespace weft::lsm
