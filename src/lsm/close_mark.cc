#include "lsm/close_mark.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "base/coding.h"
#include "base/crc32c.h"
#include "lsm/file_names.h"
#include "lsm/log_format.h"

namespace weft::lsm {

namespace {

constexpr size_t kMarkBytesMax = 4096;
// Of a mark: all but the checksums of the manifest.
constexpr size_t kNumbersMin = 6;

std::string MarkText(const CloseMark& mark) {
  std::string text = std::to_string(mark.log_number) + " " + std::to_string(mark.log_bytes) + " " +
                     std::to_string(mark.log_head) + " " + std::to_string(mark.manifest_number) +
                     " " + std::to_string(mark.manifest_bytes);
  for (const uint32_t crc : mark.manifest_crcs) text += " " + std::to_string(crc);
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
  for (const ManifestEnd& end : state.ends) {
    if (end.bytes == mark.manifest_bytes) {
      return end.crc == mark.manifest_crcs.front() ? Fit::kSame : Fit::kOther;
    }
  }
  const ManifestEnd& last = state.ends.back();
  if (last.bytes > mark.manifest_bytes) return Fit::kOther;
  // A part of what was there: known by where it ends, or, where the mark does not reach so far
  // back, by its end, which no record is.
  const bool known = std::ranges::count(mark.manifest_crcs, last.crc) > 0;
  const bool too_far = mark.manifest_crcs.size() == OpenManifest::kEndsMax;
  return known || (too_far && state.end == LogEnd::kTorn) ? Fit::kDamaged : Fit::kOther;
}

Status NotAsClosed(const std::string& path, const std::string& why) {
  return {Code::kCorruption,
          path + ": the store was closed, and is not as it was: " + why + ": repair the store"};
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
  if (numbers.size() <= kNumbersMin) return std::nullopt;
  CloseMark mark{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
  for (size_t i = kNumbersMin - 1; i + 1 < numbers.size(); i++) {
    mark.manifest_crcs.push_back(static_cast<uint32_t>(numbers[i]));
  }
  if (text != MarkText(mark)) return std::nullopt;
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
    return NotAsClosed(CurrentFileName(dir), "it named " + path);
  }
  switch (FitOf(*mark, state)) {
    case Fit::kOther: return none;
    case Fit::kSame: return mark;
    case Fit::kDamaged: break;
  }
  return NotAsClosed(path, std::to_string(mark->manifest_bytes) + " bytes were in it, and only " +
                               std::to_string(state.valid_bytes) + " are whole");
}

bool LacksMarkedEnd(FileSystem* files, const std::string& dir, uint64_t manifest_number) {
  const std::string path = ManifestFileName(dir, manifest_number);
  auto file = files->NewSequentialFile(path);
  if (!file) return false;
  const Result<ManifestState> state = ReadManifest(file->get(), path);
  return state && !FindCloseMark(files, dir, manifest_number, state.value());
}

}  // namespace weft::lsm
