#include "lsm/foreign_store.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/coding.h"
#include "base/read_on.h"
#include "lsm/file_names.h"
#include "lsm/log_reader.h"
#include "lsm/record_kind.h"

namespace weft::lsm {

namespace {

// The last 8 bytes of its tables, by their kinds: of blocks, plain ones, cuckoo ones.
constexpr std::array<uint64_t, 4> kTableEnds = {0x88e241b785f4cff7, 0x8242229663bf9564,
                                                0x4f3418eb7a8f13b8, 0x926789d0c5f17873};
constexpr uint32_t kBlobBegin = 0x00248f37;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Its first `bytes`, or fewer; nothing where they cannot be read.
std::string Begin(FileSystem* files, const std::string& path, size_t bytes) {
  auto file = files->NewSequentialFile(path);
  if (!file) return "";
  std::string room(bytes, '\0');
  std::string_view piece;
  if (!base::ReadOn(file->get(), bytes, &piece, room.data()).ok()) return "";
  return std::string(piece);
}

// The first records tell it.
bool IsRocksDbManifest(FileSystem* files, const std::string& path) {
  constexpr int kRecordsMax = 8;
  auto file = files->NewSequentialFile(path);
  if (!file) return false;
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  std::string_view record;
  for (int i = 0; i < kRecordsMax && reader.Read(&record); i++) {
    if (IsRocksDbEdit(record)) return true;
  }
  return false;
}

bool IsOptionsFile(FileSystem* files, const std::string& dir, const std::string& name) {
  constexpr std::string_view kPrefix = "OPTIONS-";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return false;
  if (!IsDigit(name[kPrefix.size()])) return false;
  return Begin(files, dir + "/" + name, 512).find("RocksDB") != std::string::npos;
}

// A name for the store: 8-4-4-4-12 digits of hex.
bool IsIdentityFile(FileSystem* files, const std::string& dir, const std::string& name) {
  constexpr size_t kBytes = 36;
  if (name != "IDENTITY") return false;
  const std::string id = Begin(files, dir + "/" + name, kBytes);
  return id.size() == kBytes &&
         std::ranges::all_of(id, [](char c) { return IsHex(c) || c == '-'; });
}

bool IsBlobFile(FileSystem* files, const std::string& dir, const std::string& name) {
  if (!name.ends_with(".blob") || name.empty() || !IsDigit(name.front())) return false;
  const std::string begin = Begin(files, dir + "/" + name, sizeof kBlobBegin);
  return begin.size() == sizeof kBlobBegin && base::DecodeFixed32(begin.data()) == kBlobBegin;
}

// Takes what belongs to a field of LevelDB's off the front of *input; false where it is none.
bool TakeKnownField(std::string_view* input, uint32_t tag) {
  uint32_t level;
  uint64_t number;
  std::string_view text;
  switch (tag) {
    case 1: return base::GetLengthPrefixed(input, &text);
    case 2:
    case 3:
    case 4:
    case 9: return base::GetVarint64(input, &number);
    case 5: return base::GetVarint32(input, &level) && base::GetLengthPrefixed(input, &text);
    case 6: return base::GetVarint32(input, &level) && base::GetVarint64(input, &number);
    case 7:
      return base::GetVarint32(input, &level) && base::GetVarint64(input, &number) &&
             base::GetVarint64(input, &number) && base::GetLengthPrefixed(input, &text) &&
             base::GetLengthPrefixed(input, &text);
    default: return false;
  }
}

constexpr uint32_t kMayBePassedOver = 1u << 13;

// Which log is kept; a table, in three versions; column families; groups; blob files; and what may
// be passed over.
bool IsRocksDbTag(uint32_t tag) {
  return tag == 10 || (tag >= 100 && tag <= 103) || (tag >= 200 && tag <= 203) || tag == 300 ||
         (tag >= 400 && tag <= 401) || (tag >= kMayBePassedOver && tag < kMayBePassedOver + 64);
}

}  // namespace

std::string FindRocksDbFile(FileSystem* files, const std::string& dir,
                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (IsOptionsFile(files, dir, name) || IsIdentityFile(files, dir, name) ||
        IsBlobFile(files, dir, name)) {
      return name;
    }
  }
  return "";
}

Status CheckIsNotRocksDb(FileSystem* files, const std::string& dir) {
  std::vector<std::string> names;
  if (!files->GetChildren(dir, &names).ok()) return {};
  if (const std::string name = FindRocksDbFile(files, dir, names); !name.empty()) {
    return OfRocksDb(dir + "/" + name);
  }
  if (files->FileExists(CurrentFileName(dir))) {
    const Result<uint64_t> number = ReadCurrentFile(files, dir);
    const std::string path = number ? ManifestFileName(dir, number.value()) : "";
    return number && IsRocksDbManifest(files, path) ? OfRocksDb(path) : Status();
  }
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    const std::string path = dir + "/" + name;
    if ((parsed.type == FileType::kTable && IsRocksDbTable(files, path)) ||
        (parsed.type == FileType::kManifest && IsRocksDbManifest(files, path))) {
      return OfRocksDb(path);
    }
  }
  return {};
}

bool IsRocksDbTable(FileSystem* files, const std::string& path) {
  auto bytes = files->GetFileSize(path);
  if (!bytes || *bytes < sizeof(uint64_t)) return false;
  auto file = files->NewRandomAccessFile(path);
  if (!file) return false;
  char room[sizeof(uint64_t)];
  std::string_view end;
  const Status status = base::ReadOnAt(**file, *bytes - sizeof room, sizeof room, &end, room);
  return status.ok() && end.size() == sizeof room &&
         std::ranges::find(kTableEnds, base::DecodeFixed64(end.data())) != kTableEnds.end();
}

Status OfRocksDb(const std::string& path) {
  return {Code::kInvalidArgument,
          path + " is RocksDB's: its store has another format, and is left as it is"};
}

// A sequence number, with which a log's record begins, may be any tag, too.
bool IsRocksDbEdit(std::string_view record) {
  if (NumbersOf(RecordKind::kBatch, record)) return false;
  uint32_t tag;
  bool is_first = true;
  while (base::GetVarint32(&record, &tag)) {
    // Only what may be passed over stands before all of LevelDB's.
    if (!TakeKnownField(&record, tag)) {
      return IsRocksDbTag(tag) && (!is_first || tag >= kMayBePassedOver);
    }
    is_first = false;
  }
  return false;
}

}  // namespace weft::lsm
