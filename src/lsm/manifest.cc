#include "lsm/manifest.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "lsm/file_names.h"
#include "lsm/limits.h"

namespace weft::lsm {
namespace {

// Applies edits to a set of tables, without looking at their ends.
class Replay {
 public:
  Status Take(VersionEdit edit) {
    for (const auto& [level, number] : edit.removed_files) {
      if (files_[static_cast<size_t>(level)].erase(number) == 0) {
        return Refuse("removes table ", number);
      }
      numbers_.erase(number);
    }
    for (NewFile& file : edit.new_files) {
      if (!numbers_.insert(file.number).second) return Refuse("adds table ", file.number);
      auto& files = files_[static_cast<size_t>(file.level)];
      files.emplace(file.number, std::move(file));
    }
    for (auto& [level, key] : edit.compact_pointers) {
      pointers_[static_cast<size_t>(level)] = std::move(key);
    }
    if (edit.comparator) state_.comparator = std::move(edit.comparator);
    if (edit.log_number) state_.log_number = edit.log_number;
    if (edit.prev_log_number) state_.prev_log_number = edit.prev_log_number;
    if (edit.next_file_number) state_.next_file_number = edit.next_file_number;
    if (edit.last_sequence) state_.last_sequence = edit.last_sequence;
    if (first_) state_.identity = edit.identity;
    first_ = false;
    return {};
  }

  VersionEdit Whole() {
    for (size_t level = 0; level < kLevels; ++level) {
      if (!pointers_[level].empty()) {
        state_.compact_pointers.emplace_back(static_cast<int>(level), pointers_[level]);
      }
      for (auto& [number, file] : files_[level]) state_.new_files.push_back(std::move(file));
    }
    return std::move(state_);
  }

 private:
  static Status Refuse(std::string_view what, uint64_t number) {
    return Status(Code::kCorruption,
                  std::string(what) + std::to_string(number) + " at the wrong time");
  }

  VersionEdit state_;
  bool first_ = true;
  std::array<std::map<uint64_t, NewFile>, kLevels> files_;
  std::array<std::string, kLevels> pointers_;
  std::set<uint64_t> numbers_;
};

// Random, and not 0. As long as all programs read numbers: some take them for signed ones, or for
// floating ones.
uint64_t NewIdentity() {
  constexpr uint64_t kMax = (uint64_t{1} << 52) - 1;
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
    random = base::NowNs() * 0x9e3779b97f4a7c15 ^ static_cast<uint64_t>(getpid());
  }
  return std::max<uint64_t>(1, random & kMax);
}

Status Damaged(const std::string& path, std::string_view what) {
  return Status(Code::kCorruption, path + ": " + std::string(what));
}

class FirstReason final : public LogReader::Reporter {
 public:
  void Dropped(uint64_t offset, uint64_t, std::string_view reason) override {
    if (text_.empty()) text_ = std::string(reason) + " at byte " + std::to_string(offset);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Result<ManifestState> ReadManifest(SequentialFile* file, const std::string& path) {
  FirstReason reason;
  ChecksummedReader checksummed(file);
  LogReader reader(&checksummed, &reason, LogReader::Mode::kStop);
  Replay replay;
  ManifestState state;
  std::string_view record;
  while (reader.Read(&record)) {
    const uint64_t bytes = reader.valid_bytes();
    state.ends.push_back({bytes, checksummed.CrcUpTo(bytes)});
    VersionEdit edit;
    Status status = edit.DecodeFrom(record);
    if (status.ok()) status = replay.Take(std::move(edit));
    if (!status.ok()) {
      return Damaged(path, "the record at byte " + std::to_string(reader.record_offset()) + ": " +
                               std::string(status.message()));
    }
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  state.end = reader.end();
  // Each record is synced before the next. Of one whose sync a power cut met, sectors may be gone
  // while its fragments in later blocks are whole: torn, unless another record follows.
  if (state.end == LogEnd::kDamaged && reader.misses_whole_sector() &&
      !reader.record_begins_beyond()) {
    state.end = LogEnd::kTorn;
  }
  if (state.end == LogEnd::kDamaged) {
    return Damaged(path, reason.text() + ", and records follow");
  }
  // Each record is one write, so that a crash leaves it cut, or without a sector.
  if (state.end == LogEnd::kTorn && !reader.cut_short() && !reader.misses_whole_sector()) {
    return Damaged(path, reason.text() + ", which a crash cannot cause");
  }
  state.edit = replay.Whole();
  state.valid_bytes = reader.valid_bytes();
  state.file_bytes = reader.file_bytes();
  if (!state.edit.next_file_number) return Damaged(path, "it has no next file number");
  if (!state.edit.log_number) return Damaged(path, "it has no log number");
  if (!state.edit.last_sequence) return Damaged(path, "it has no last sequence number");
  return state;
}

Status CheckFileNumbers(const VersionEdit& edit, const std::string& path) {
  uint64_t highest = std::max({edit.next_file_number.value_or(0), edit.log_number.value_or(0),
                               edit.prev_log_number.value_or(0)});
  for (const NewFile& table : edit.new_files) highest = std::max(highest, table.number);
  if (highest <= kFileNumberMax) return {};
  return Damaged(path, "no store can have a file " + std::to_string(highest));
}

std::optional<uint64_t> IdentityOfManifest(FileSystem* files, const std::string& path) {
  auto file = files->NewSequentialFile(path);
  if (!file) return std::nullopt;
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  std::string_view record;
  VersionEdit edit;
  if (!reader.Read(&record) || !edit.DecodeFrom(record).ok()) return std::nullopt;
  return edit.identity.value_or(0);
}

void OpenManifest::Begin(std::unique_ptr<WritableFile> begun) {
  file = std::make_unique<ChecksummedFile>(std::move(begun), end.crc);
  log = std::make_unique<LogWriter>(file.get(), end.bytes);
}

Status OpenManifest::Add(const VersionEdit& edit) {
  std::string record;
  edit.EncodeTo(&record);
  Status status = log->AddRecord(record);
  if (!status.ok()) return status;
  end = {log->offset(), file->crc()};
  return file->Sync();
}

Result<OpenManifest> CreateManifest(FileSystem* files, const std::string& dir, uint64_t number,
                                    const VersionEdit& first) {
  const std::string path = ManifestFileName(dir, number);
  Result<std::unique_ptr<WritableFile>> file = files->NewWritableFile(path, FileUse::kManifest);
  if (!file) return file.error();
  OpenManifest manifest;
  manifest.Begin(std::move(file.value()));
  manifest.identity = NewIdentity();
  VersionEdit named = first;
  named.identity = manifest.identity;
  Status status = manifest.Add(named);
  manifest.fresh_bytes = manifest.log->offset();
  if (status.ok()) status = files->SyncDir(dir);
  if (status.ok()) return manifest;
  manifest = {};
  // Nobody names it; what is left of it is obsolete.
  (void)files->RemoveFile(path);
  return status;
}

}  // namespace weft::lsm
