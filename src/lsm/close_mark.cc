#include "lsm/close_mark.h"

#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "lsm/file_names.h"
#include "lsm/log_format.h"

namespace weft::lsm {

namespace {

constexpr size_t kMarkBytesMax = 4096;
constexpr size_t kNumbers = 8;

std::string MarkText(const CloseMark& mark) {
  std::string text = std::to_string(mark.log_number) + " " + std::to_string(mark.log_bytes) + " " +
                     std::to_string(mark.log_head) + " " + std::to_string(mark.manifest_number) +
                     " " + std::to_string(mark.manifest_bytes) + " " +
                     std::to_string(mark.manifest_crc) + " " +
                     std::to_string(mark.manifest_identity);
  return text + " " + std::to_string(base::Crc32c(text)) + "\n";
}

// All numbers of a line, or none.
std::vector<uint64_t> NumbersOf(std::string_view text) {
  std::vector<uint64_t> numbers;
  while (!text.empty()) {
    uint64_t number;
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || next == end || (*next != ' ' && *next != '\n')) return {};
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(next + 1 - text.data()));
  }
  return numbers;
}

// As much of a file as there is, up to `bytes_max`.
std::string ReadUpTo(FileSystem* files, const std::string& path, size_t bytes_max) {
  auto file = files->NewSequentialFile(path);
  if (!file) return "";
  std::string contents;
  const auto scratch = std::make_unique_for_overwrite<char[]>(bytes_max);
  while (contents.size() < bytes_max) {
    std::string_view piece;
    const Status status = (*file)->Read(bytes_max - contents.size(), &piece, scratch.get());
    if (!status.ok() || piece.empty()) break;
    contents.append(piece);
  }
  return contents;
}

enum class Fit : uint8_t {
  kOther,    // another store's manifest
  kSame,     // all that was in it is there
  kDamaged,  // records are missing
};

// Of the manifest of the mark's number.
Fit FitOf(const CloseMark& mark, const ManifestState& state) {
  if (state.edit.identity.value_or(0) != mark.manifest_identity) return Fit::kOther;
  for (const ManifestEnd& end : state.ends) {
    if (end.bytes == mark.manifest_bytes) {
      return end.crc == mark.manifest_crc ? Fit::kSame : Fit::kOther;
    }
  }
  return state.ends.back().bytes > mark.manifest_bytes ? Fit::kOther : Fit::kDamaged;
}

Status NotAsClosed(const std::string& path, const std::string& why) {
  return {Code::kCorruption,
          path + ": changed since the store was closed: " + why + ": repair the store"};
}

}  // namespace

std::string CloseMarkFileName(const std::string& dir) { return dir + "/CLOSED"; }

Status CloseMark::Write(FileSystem* files, const std::string& dir) const {
  auto file = files->NewWritableFile(CloseMarkFileName(dir), FileUse::kOther);
  if (!file) return file.error();
  Status status = (*file)->Append(MarkText(*this));
  return status.ok() ? (*file)->Close() : status;
}

std::optional<CloseMark> CloseMark::Read(FileSystem* files, const std::string& dir) {
  const std::string text = ReadUpTo(files, CloseMarkFileName(dir), kMarkBytesMax);
  const std::vector<uint64_t> numbers = NumbersOf(text);
  if (numbers.size() != kNumbers) return std::nullopt;
  CloseMark mark{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
  mark.manifest_crc = static_cast<uint32_t>(numbers[5]);
  mark.manifest_identity = numbers[6];
  if (text != MarkText(mark) || mark.manifest_identity == 0) return std::nullopt;
  return mark;
}

uint64_t HeadOfLog(FileSystem* files, const std::string& dir, uint64_t number) {
  std::string head = ReadUpTo(files, LogFileName(dir, number), kLogHeaderBytes);
  if (head.size() < kLogHeaderBytes) return 0;
  head.resize(sizeof(uint64_t), '\0');
  return base::DecodeFixed64(head.data());
}

Result<std::optional<CloseMark>> FindCloseMark(FileSystem* files, const std::string& dir,
                                               uint64_t manifest_number,
                                               const ManifestState& state) {
  std::optional<CloseMark> mark = CloseMark::Read(files, dir);
  const std::optional<CloseMark> none;
  if (!mark || manifest_number > mark->manifest_number) return none;  // of the past
  const std::string path = ManifestFileName(dir, mark->manifest_number);
  if (manifest_number < mark->manifest_number) {
    if (!files->FileExists(path)) return none;
    const auto identity = IdentityOfManifest(files, path);
    if (identity && *identity != mark->manifest_identity) return none;
    return NotAsClosed(CurrentFileName(dir), "it named " + path + " then");
  }
  switch (FitOf(*mark, state)) {
    case Fit::kOther: return none;
    case Fit::kSame: return mark;
    case Fit::kDamaged: break;
  }
  return NotAsClosed(path, "it had " + std::to_string(mark->manifest_bytes) +
                               " bytes, of which only " + std::to_string(state.valid_bytes) +
                               " are intact");
}

bool LacksMarkedEnd(FileSystem* files, const std::string& dir, uint64_t manifest_number) {
  const std::string path = ManifestFileName(dir, manifest_number);
  auto file = files->NewSequentialFile(path);
  if (!file) return false;
  const Result<ManifestState> state = ReadManifest(file->get(), path);
  return state && !FindCloseMark(files, dir, manifest_number, state.value());
}

}  // namespace weft::lsm
