#include "lsm/foreign_store.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/coding.h"
#include "base/read_around.h"
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

// What a file says that cannot be read: nothing, where something is wrong with it.
template <typename Told>
Result<Told> Untold(const Status& why) {
  if (base::IsOfTheFile(why)) return Told();
  return why;
}

// Its first `bytes`, or fewer.
Result<std::string> Begin(FileSystem* files, const std::string& path, size_t bytes) {
  auto file = files->NewSequentialFile(path);
  if (!file) return Untold<std::string>(file.error());
  std::string room(bytes, '\0');
  std::string_view piece;
  const Status status = base::ReadOn(file->get(), bytes, &piece, room.data());
  if (!status.ok()) return Untold<std::string>(status);
  return std::string(piece);
}

// The first records tell it.
Result<bool> IsRocksDbManifest(FileSystem* files, const std::string& path) {
  constexpr int kRecordsMax = 8;
  auto file = files->NewSequentialFile(path);
  if (!file) return Untold<bool>(file.error());
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  std::string_view record;
  for (int i = 0; i < kRecordsMax && reader.Read(&record); i++) {
    if (IsRocksDbEdit(record)) return true;
  }
  return reader.status().ok() ? Result<bool>(false) : Untold<bool>(reader.status());
}

// A kind of file that only RocksDB makes: by its name, and by what its first `bytes` are.
struct TellingFile {
  bool (*has_name)(std::string_view name);
  size_t bytes;
  bool (*begins_so)(const std::string& begin);
};

bool IsOptionsName(std::string_view name) {
  constexpr std::string_view kPrefix = "OPTIONS-";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && IsDigit(name[kPrefix.size()]);
}
bool IsOptions(const std::string& begin) { return begin.find("RocksDB") != std::string::npos; }

constexpr size_t kIdentityBytes = 36;
bool IsIdentityName(std::string_view name) { return name == "IDENTITY"; }
// A name for the store: 8-4-4-4-12 digits of hex.
bool IsIdentity(const std::string& begin) {
  return begin.size() == kIdentityBytes &&
         std::ranges::all_of(begin, [](char c) { return IsHex(c) || c == '-'; });
}

bool IsBlobName(std::string_view name) { return name.ends_with(".blob") && IsDigit(name.front()); }
bool IsBlob(const std::string& begin) {
  return begin.size() == sizeof kBlobBegin && base::DecodeFixed32(begin.data()) == kBlobBegin;
}

constexpr TellingFile kTellingFiles[] = {{IsOptionsName, 512, IsOptions},
                                         {IsIdentityName, kIdentityBytes, IsIdentity},
                                         {IsBlobName, sizeof kBlobBegin, IsBlob}};

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

// Of a file that was looked into.
Status Refusal(const std::string& path, Result<bool> is_rocksdb) {
  if (!is_rocksdb) return is_rocksdb.error();
  return *is_rocksdb ? OfRocksDb(path) : Status();
}

}  // namespace

Result<std::string> FindRocksDbFile(FileSystem* files, const std::string& dir,
                                    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const TellingFile& telling : kTellingFiles) {
      if (!telling.has_name(name)) continue;
      Result<std::string> begin = Begin(files, dir + "/" + name, telling.bytes);
      if (!begin) return begin.error();
      if (telling.begins_so(*begin)) return name;
    }
  }
  return std::string();
}

Status CheckIsNotRocksDb(FileSystem* files, const std::string& dir) {
  std::vector<std::string> names;
  if (Status status = files->GetChildren(dir, &names); !status.ok()) {
    // A program's files may have no code for what is not there.
    const bool is_gone = status.code() == Code::kIoError && !files->FileExists(dir);
    return is_gone || status.code() == Code::kNotFound ? Status() : status;
  }
  Result<std::string> found = FindRocksDbFile(files, dir, names);
  if (!found) return found.error();
  if (!found->empty()) return OfRocksDb(dir + "/" + *found);
  if (files->FileExists(CurrentFileName(dir))) {
    Result<uint64_t> number = ReadCurrentFile(files, dir);
    if (!number) return base::IsOfTheFile(number.error()) ? Status() : number.error();
    const std::string path = ManifestFileName(dir, *number);
    return Refusal(path, IsRocksDbManifest(files, path));
  }
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    const std::string path = dir + "/" + name;
    Status status;
    if (parsed.type == FileType::kTable) status = Refusal(path, IsRocksDbTable(files, path));
    if (parsed.type == FileType::kManifest) status = Refusal(path, IsRocksDbManifest(files, path));
    if (!status.ok()) return status;
  }
  return {};
}

Result<bool> IsRocksDbTable(FileSystem* files, const std::string& path) {
  auto bytes = files->GetFileSize(path);
  if (!bytes) return Untold<bool>(bytes.error());
  if (*bytes < sizeof(uint64_t)) return false;
  auto file = files->NewRandomAccessFile(path);
  if (!file) return Untold<bool>(file.error());
  char room[sizeof(uint64_t)];
  std::string_view end;
  const Status status = base::ReadOnAt(**file, *bytes - sizeof room, sizeof room, &end, room);
  if (!status.ok()) return Untold<bool>(status);
  return end.size() == sizeof room &&
         std::ranges::find(kTableEnds, base::DecodeFixed64(end.data())) != kTableEnds.end();
}

Status OfRocksDb(const std::string& path) {
  return {Code::kInvalidArgument,
          path + " belongs to RocksDB, whose store has a different format; it is left unchanged"};
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
