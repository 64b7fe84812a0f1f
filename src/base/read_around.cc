#include "base/read_around.h"

#include <algorithm>
#include <cstring>

#include "base/read_on.h"

namespace weft::base {

namespace {

constexpr uint64_t kSectorBytes = 512;

}  // namespace

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
  if (status.code() != Code::kIoError) return status;
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
