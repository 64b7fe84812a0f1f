#include "lsm/lost_files.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/read_around.h"
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

// What of `from` can be read, with a filling for the rest, synced.
Status CopyAround(FileSystem* files, const std::string& from, const std::string& to) {
  constexpr size_t kPieceBytes = 256u << 10;
  auto source = base::AroundFile::Open(files, from);
  if (!source) return source.error();
  auto target = files->NewWritableFile(to, FileUse::kOther);
  if (!target) return target.error();
  const auto scratch = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  std::string_view piece;
  do {
    Status status = (*source)->Read(kPieceBytes, &piece, scratch.get());
    if (status.ok()) status = (*target)->Append(piece);
    if (!status.ok()) return status;
  } while (!piece.empty());
  Status status = (*target)->Sync();
  return status.ok() ? (*target)->Close() : status;
}

}  // namespace

Status LostFiles::Count(uint64_t* next_number) const {
  std::set<uint64_t> numbers;
  if (Status status = Numbers(&numbers); !status.ok()) return status;
  for (const uint64_t number : numbers) {
    if (number <= CountedFileNumberMax(*next_number)) {
      *next_number = std::max(*next_number, number + 1);
    }
  }
  return {};
}

Status LostFiles::Numbers(std::set<uint64_t>* numbers) const {
  std::vector<std::string> names;
  Status status = files_->GetChildren(lost_, &names);
  if (!status.ok()) return files_->FileExists(lost_) ? status : Status();
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (ParseFileName(name, &parsed)) numbers->insert(parsed.number);
  }
  return {};
}

Status LostFiles::Keep(const std::string& name, uint64_t* next_number, std::string* kept) {
  if (Status status = Make(); !status.ok()) return status;
  const std::string from = dir_ + "/" + name;
  *kept = name;
  if (files_->FileExists(lost_ + "/" + name)) {
    const auto same = HoldTheSame(files_, from, lost_ + "/" + name);
    if (same && same.value()) return {};  // else it can't be read, perhaps: then it is another one
    *kept = Renumbered(name, (*next_number)++);
  }
  ParsedFileName parsed;
  (void)ParseFileName(*kept, &parsed);
  return LinkOrCopyTo(from, lost_ + "/" + *kept, parsed.number);
}

Status LostFiles::Make() {
  if (made_) return {};
  Status status = files_->CreateDir(lost_);
  made_ = status.ok();
  return status;
}

bool LostFiles::IsFile(const std::string& name) const {
  const std::string path = dir_ + "/" + name;
  std::vector<std::string> names;
  if (files_->GetChildren(path, &names).ok()) return false;
  const auto file = files_->NewRandomAccessFile(path);
  return file || !base::IsNoRegularFile(file.error());
}

Status LostFiles::Move(const std::string& name, uint64_t* next_number, std::string* kept) {
  if (Status status = Make(); !status.ok()) return status;
  *kept = name;
  if (files_->FileExists(lost_ + "/" + name)) {
    const uint64_t number = (*next_number)++;
    *kept = Renumbered(name, number);
    if (*kept == name) *kept += "-" + std::to_string(number);
  }
  Status status = files_->RenameFile(dir_ + "/" + name, lost_ + "/" + *kept);
  return status.ok() ? files_->SyncDir(lost_) : status;
}

Status LostFiles::LinkOrCopyTo(const std::string& from, const std::string& to, uint64_t number) {
  Status status = files_->LinkFile(from, to);
  if (status.code() != Code::kUnsupported) return status;
  const std::string temporary = TempFileName(lost_, number);
  status = CopyAround(files_, from, temporary);
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
