#include "lsm/store_copy.h"

#include <memory>

#include "base/read_on.h"
#include "lsm/file_names.h"
#include "lsm/log_writer.h"
#include "lsm/version_edit.h"

namespace weft::lsm {

namespace {

constexpr size_t kCopyBytes = 1u << 20;

}  // namespace

Status CopyFile(FileSystem* files, const std::string& from, const std::string& to) {
  auto bytes = files->GetFileSize(from);
  if (!bytes) return bytes.error();
  auto source = files->NewSequentialFile(from);
  if (!source) return source.error();
  auto target = files->NewWritableFile(to, FileUse::kTable);
  if (!target) return target.error();
  const auto scratch = std::make_unique_for_overwrite<char[]>(kCopyBytes);
  uint64_t copied = 0;
  std::string_view piece;
  do {
    Status status = (*source)->Read(kCopyBytes, &piece, scratch.get());
    if (status.ok()) status = (*target)->Append(piece);
    if (!status.ok()) return status;
    copied += piece.size();
  } while (!piece.empty());
  if (copied != *bytes) {
    return {Code::kIoError, "copy " + from + ": " + std::to_string(copied) +
                                " bytes were read, but its size is " + std::to_string(*bytes)};
  }
  if (Status status = (*target)->Sync(); !status.ok()) return status;
  return (*target)->Close();
}

Result<bool> HoldTheSame(FileSystem* files, const std::string& a, const std::string& b) {
  auto bytes_a = files->GetFileSize(a);
  if (!bytes_a) return bytes_a.error();
  auto bytes_b = files->GetFileSize(b);
  if (!bytes_b) return bytes_b.error();
  if (*bytes_a != *bytes_b) return false;
  auto file_a = files->NewSequentialFile(a);
  if (!file_a) return file_a.error();
  auto file_b = files->NewSequentialFile(b);
  if (!file_b) return file_b.error();
  const auto scratch = std::make_unique_for_overwrite<char[]>(2 * kCopyBytes);
  std::string_view piece_a;
  std::string_view piece_b;
  do {
    Status status = base::ReadOn(file_a->get(), kCopyBytes, &piece_a, scratch.get());
    if (status.ok()) {
      status = base::ReadOn(file_b->get(), kCopyBytes, &piece_b, scratch.get() + kCopyBytes);
    }
    if (!status.ok()) return status;
    if (piece_a != piece_b) return false;
  } while (!piece_a.empty());
  return true;
}

std::string ParentOf(const std::string& path) {
  const size_t end = path.find_last_not_of('/');  // of the last name
  const size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  if (slash == std::string::npos) return path.starts_with('/') ? "/" : ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status LinkOrCopy(FileSystem* files, const std::string& from, const std::string& to, bool* linked) {
  Status status = files->LinkFile(from, to);
  if (linked != nullptr) *linked = status.ok();
  if (status.code() != Code::kUnsupported) return status;
  status = CopyFile(files, from, to);
  if (!status.ok()) (void)files->RemoveFile(to);
  return status;
}

Status WriteManifestOf(const Version& version, FileSystem* files, const std::string& dir,
                       uint64_t next_file, table::SequenceNumber last_sequence) {
  VersionEdit edit;
  edit.comparator = version.comparator().user()->Name();
  edit.log_number = 0;
  edit.next_file_number = next_file + 1;
  edit.last_sequence = last_sequence;
  for (int level = 0; level < kLevels; level++) {
    for (const FileRef& file : version.level(level).files()) {
      edit.AddFile(level, file->number, file->bytes, file->smallest, file->largest);
    }
  }
  std::string record;
  edit.EncodeTo(&record);
  auto manifest = files->NewWritableFile(ManifestFileName(dir, next_file), FileUse::kManifest);
  if (!manifest) return manifest.error();
  Status status = LogWriter(manifest->get()).AddRecord(record);
  if (status.ok()) status = (*manifest)->Sync();
  if (status.ok()) status = (*manifest)->Close();
  return status.ok() ? SetCurrentFile(files, dir, next_file) : status;
}

}  // namespace weft::lsm
