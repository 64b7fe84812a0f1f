#include "base/read_around.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/read_on.h"

namespace weft::base {

namespace {

constexpr uint64_t kSectorBytes = 512;

// What disks, and file systems with checksums, answer; then what stands in a file's place.
constexpr int kErrorsOfFiles[] = {EIO,   EUCLEAN, EBADMSG, EILSEQ, ENODATA,
                                  ENXIO, EISDIR,  ENOENT,  ELOOP,  ENOTDIR};
// base/posix_fd.h and base/posix_direct.cc say these without an errno.
constexpr std::string_view kNoRegularFile = ": not a regular file";
constexpr std::string_view kReasonsOfFiles[] = {kNoRegularFile, ": it ends early"};

}  // namespace

// A Status has no errno, but its message ends with the text of one.
bool IsOfTheFile(const Status& status) {
  if (status.code() == Code::kCorruption || status.code() == Code::kNotFound) return true;
  if (status.code() != Code::kIoError) return false;
  const std::string_view message = status.message();
  const auto ends_so = [&](std::string_view reason) { return message.ends_with(reason); };
  const auto is_error = [&](int error) {
    return ends_so(": " + std::system_category().message(error));
  };
  return std::ranges::any_of(kReasonsOfFiles, ends_so) ||
         std::ranges::any_of(kErrorsOfFiles, is_error);
}

bool IsNoRegularFile(const Status& status) {
  return status.code() == Code::kIoError && status.message().ends_with(kNoRegularFile);
}

std::string Unreadable::ToString(const std::string& path) const {
  return path + ": " + std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
         " on cannot be read: " + std::string(why.message());
}

Result<size_t> ReadAround(const RandomAccessFile& file, uint64_t offset, size_t bytes, char* to,
                          Unreadable* unreadable) {
  std::string_view got;
  const Status status = ReadOnAt(file, offset, bytes, &got, to);
  if (status.ok()) {
    if (got.data() != to && !got.empty()) std::memmove(to, got.data(), got.size());
    return got.size();
  }
  if (status.code() != Code::kIoError || !IsOfTheFile(status)) return status;
  if (bytes <= kSectorBytes) {
    if (unreadable->bytes == 0) unreadable->offset = offset, unreadable->why = status;
    unreadable->bytes += bytes;
    std::memset(to, kUnreadableFill, bytes);
    return bytes;
  }
  // Where a sector begins.
  const uint64_t half = (offset + bytes / 2) / kSectorBytes * kSectorBytes;
  const uint64_t middle =
      half > offset ? half : offset / kSectorBytes * kSectorBytes + kSectorBytes;
  const size_t before = middle - offset;
  Result<size_t> first = ReadAround(file, offset, before, to, unreadable);
  if (!first || *first < before) return first;
  Result<size_t> second = ReadAround(file, middle, bytes - before, to + before, unreadable);
  if (!second) return second;
  return before + *second;
}

Result<std::unique_ptr<AroundFile>> AroundFile::Open(FileSystem* files, const std::string& path) {
  auto bytes = files->GetFileSize(path);
  if (!bytes) return bytes.error();
  auto file = files->NewRandomAccessFile(path);
  if (!file) return file.error();
  return std::unique_ptr<AroundFile>(new AroundFile(std::move(*file), *bytes));  // it is private
}

Status AroundFile::Read(size_t bytes, std::string_view* result, char* scratch) {
  *result = {};
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(bytes, bytes_ - offset_));
  if (wanted == 0) return {};
  const Result<size_t> got = ReadAround(*file_, offset_, wanted, scratch, &unreadable_);
  if (!got) return got.error();
  offset_ += got.value();
  *result = {scratch, got.value()};
  return {};
}

Status AroundFile::Skip(uint64_t bytes) {
  offset_ += std::min(bytes, bytes_ - offset_);
  return {};
}

}  // namespace weft::base
