#include "lsm/file_names.h"

#include <charconv>
#include <memory>
#include <system_error>

#include "base/read_on.h"
#include "lsm/lost_current.h"

namespace weft::lsm {
namespace {

constexpr std::string_view kManifestPrefix = "MANIFEST-";

std::string Numbered(const std::string& dir, std::string_view prefix, uint64_t number,
                     std::string_view suffix) {
  const std::string digits = std::to_string(number);
  std::string name = dir;
  name += '/';
  name += prefix;
  if (digits.size() < 6) name.append(6 - digits.size(), '0');
  name += digits;
  name += suffix;
  return name;
}

// Takes digits off the front of *text. False where there are none, or more than a number holds.
bool TakeDigits(std::string_view* text, uint64_t* number) {
  const char* end = text->data() + text->size();
  const auto [next, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc()) return false;
  *text = {next, static_cast<size_t>(end - next)};
  return true;
}

Status WriteWholeFile(FileSystem* files, const std::string& path, std::string_view content) {
  Result<std::unique_ptr<WritableFile>> file = files->NewWritableFile(path, FileUse::kOther);
  if (!file) return file.error();
  Status status = (*file)->Append(content);
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  return status;
}

}  // namespace

std::string LogFileName(const std::string& dir, uint64_t number) {
  return Numbered(dir, "", number, ".log");
}
std::string TableFileName(const std::string& dir, uint64_t number) {
  return Numbered(dir, "", number, ".ldb");
}
std::string OldTableFileName(const std::string& dir, uint64_t number) {
  return Numbered(dir, "", number, ".sst");
}
std::string ManifestFileName(const std::string& dir, uint64_t number) {
  return Numbered(dir, kManifestPrefix, number, "");
}
std::string TempFileName(const std::string& dir, uint64_t number) {
  return Numbered(dir, "", number, ".dbtmp");
}
std::string CurrentFileName(const std::string& dir) { return dir + "/CURRENT"; }
std::string LockFileName(const std::string& dir) { return dir + "/LOCK"; }
std::string InfoLogFileName(const std::string& dir) { return dir + "/LOG"; }
std::string OldInfoLogFileName(const std::string& dir) { return dir + "/LOG.old"; }

bool ParseFileName(std::string_view name, ParsedFileName* parsed) {
  *parsed = {};
  if (name == "CURRENT") {
    parsed->type = FileType::kCurrent;
    return true;
  }
  if (name == "LOCK") {
    parsed->type = FileType::kLock;
    return true;
  }
  if (name == "LOG" || name == "LOG.old") {
    parsed->type = FileType::kInfoLog;
    return true;
  }
  const bool manifest = name.starts_with(kManifestPrefix);
  if (manifest) name.remove_prefix(kManifestPrefix.size());
  if (!TakeDigits(&name, &parsed->number)) return false;
  if (manifest) {
    parsed->type = FileType::kManifest;
    return name.empty();
  }
  if (name == ".log") {
    parsed->type = FileType::kLog;
  } else if (name == ".ldb" || name == ".sst") {
    parsed->type = FileType::kTable;
  } else if (name == ".dbtmp") {
    parsed->type = FileType::kTemp;
  } else {
    return false;
  }
  return true;
}

Result<uint64_t> ReadCurrentFile(FileSystem* files, const std::string& dir) {
  const std::string path = CurrentFileName(dir);
  Result<std::unique_ptr<SequentialFile>> file = files->NewSequentialFile(path);
  if (!file) {
    if (file.error().code() != Code::kNotFound) return file.error();
    Status lost = CheckCurrentIsNotLost(files, dir);
    return lost.ok() ? file.error() : lost;
  }
  char scratch[256];
  std::string_view content;
  Status status = base::ReadOn(file->get(), sizeof scratch, &content, scratch);
  if (!status.ok()) return status;
  ParsedFileName parsed;
  // Written in one step, so a name without its line break is damage and no torn write.
  if (!content.ends_with('\n') || !ParseFileName(content.substr(0, content.size() - 1), &parsed) ||
      parsed.type != FileType::kManifest) {
    return Status(Code::kCorruption, path + " does not name a manifest");
  }
  return parsed.number;
}

Status SetCurrentFile(FileSystem* files, const std::string& dir, uint64_t manifest_number) {
  const std::string manifest = ManifestFileName(dir, manifest_number);
  const std::string temp = TempFileName(dir, manifest_number);
  Status status = WriteWholeFile(files, temp, manifest.substr(dir.size() + 1) + '\n');
  if (status.ok()) status = files->RenameFile(temp, CurrentFileName(dir));
  if (!status.ok()) {
    // CURRENT is as it was; the error that counts is the first one.
    (void)files->RemoveFile(temp);
    return status;
  }
  return files->SyncDir(dir);
}

}  // namespace weft::lsm
