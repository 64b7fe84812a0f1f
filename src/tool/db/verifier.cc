#include "tool/db/verifier.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/read_around.h"
#include "lsm/file_names.h"
#include "lsm/foreign_store.h"
#include "lsm/limits.h"
#include "lsm/log_replay.h"
#include "lsm/table_check.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

std::string KeyText(std::string_view internal_key) {
  table::ParsedKey parsed;
  if (!table::ParseInternalKey(internal_key, &parsed)) return "'" + Escaped(internal_key) + "'";
  return "'" + Escaped(parsed.user_key) + "' @ " + std::to_string(parsed.sequence);
}

}  // namespace

Verifier::Verifier(const Console& console, const DbOptions& options, std::string dir)
    : console_(console),
      options_(options),
      dir_(std::move(dir)),
      files_(base::WithoutMappings(options.file_system)),
      comparator_(options.comparator) {}

Status Verifier::Run() {
  Status ours = lsm::CheckIsNotRocksDb(files_, dir_);
  if (!ours.ok()) return ours;
  bool legible = false;
  if (Status status = CheckManifest(&legible); !status.ok()) return status;
  if (!legible) return {};
  CheckFolder();
  CheckLevels();
  if (Status status = CheckTables(); !status.ok()) return status;
  return CheckLogs();
}

Status Verifier::Take(const Status& status) {
  if (!lsm::IsOfTheFile(status)) return status;
  Problem(std::string(status.message()));
  return {};
}

Status Verifier::CheckManifest(bool* legible) {
  auto number = lsm::ReadCurrentFile(files_, dir_);
  if (!number) return Take(number.error());
  const std::string path = lsm::ManifestFileName(dir_, *number);
  auto file = files_->NewSequentialFile(path);
  if (!file && file.error().code() == Code::kNotFound) {
    return Take({Code::kCorruption, path + ", which CURRENT names, is missing"});
  }
  if (!file) return Take(file.error());
  auto state = lsm::ReadManifest(file->get(), path);
  if (!state) return Take(state.error());
  if (Status status = lsm::CheckFileNumbers(state->edit, path); !status.ok()) return Take(status);
  manifest_ = std::move(*state);
  const std::string comparator = manifest_.edit.comparator.value_or("");
  if (!comparator.empty() && comparator != options_.comparator->Name()) {
    return {Code::kInvalidArgument,
            dir_ + ": its comparator is " + comparator + ", which is not built in"};
  }
  if (auto opens = files_->NewSequentialFile(lsm::CloseMarkFileName(dir_));
      !opens && !lsm::IsOfTheFile(opens.error())) {
    return opens.error();
  }
  auto mark = lsm::FindCloseMark(files_, dir_, *number, manifest_);
  if (mark) {
    mark_ = std::move(*mark);
  } else if (Status status = Take(mark.error()); !status.ok()) {
    return status;
  }
  if (manifest_.end == lsm::LogEnd::kTorn) {
    report_.notes.push_back(path + ": torn at byte " + std::to_string(manifest_.valid_bytes) +
                            ", as after a crash");
  }
  *legible = true;
  return {};
}

// Finds the logs that are needed, and files that nothing needs.
void Verifier::CheckFolder() {
  std::vector<std::string> names;
  (void)files_->GetChildren(dir_, &names);
  std::set<uint64_t> tables;
  for (const lsm::NewFile& file : manifest_.edit.new_files) tables.insert(file.number);
  const uint64_t first_log = *manifest_.edit.log_number;
  const uint64_t counted_max = lsm::CountedFileNumberMax(*manifest_.edit.next_file_number);
  const uint64_t previous = manifest_.edit.prev_log_number.value_or(0);
  for (const std::string& name : names) {
    lsm::ParsedFileName parsed;
    if (!lsm::ParseFileName(name, &parsed)) continue;
    if (parsed.type == lsm::FileType::kLog) {
      if (parsed.number > counted_max && parsed.number != first_log) {
        report_.notes.push_back(dir_ + "/" + name + ": no store uses such a name");
      } else if (parsed.number >= first_log || (previous != 0 && parsed.number == previous)) {
        logs_.push_back(parsed.number);
      } else {
        report_.notes.push_back(dir_ + "/" + name + ": no longer needed");
      }
    }
    if (parsed.type == lsm::FileType::kTable && !tables.contains(parsed.number)) {
      report_.notes.push_back(dir_ + "/" + name + ": not part of the store");
    }
  }
  std::ranges::sort(logs_);
  if (first_log != 0 && !std::ranges::binary_search(logs_, first_log)) {
    Problem(lsm::LogFileName(dir_, first_log) + ": the manifest names it, but it is missing");
  }
}

std::string Verifier::PathOf(uint64_t table) const {
  const std::string old = lsm::OldTableFileName(dir_, table);
  const std::string path = lsm::TableFileName(dir_, table);
  return !files_->FileExists(path) && files_->FileExists(old) ? old : path;
}

// Below level 0 no user key may be in two tables' ranges.
void Verifier::CheckLevels() {
  std::vector<const lsm::NewFile*> files;
  for (const lsm::NewFile& file : manifest_.edit.new_files) {
    if (comparator_.Compare(file.smallest, file.largest) > 0) {
      Problem(PathOf(file.number) + ": its first key in the manifest is above its last");
    }
    if (file.level > 0) files.push_back(&file);
  }
  std::ranges::sort(files, [&](const lsm::NewFile* a, const lsm::NewFile* b) {
    if (a->level != b->level) return a->level < b->level;
    return comparator_.Compare(a->smallest, b->smallest) < 0;
  });
  for (size_t i = 1; i < files.size(); i++) {
    const lsm::NewFile& before = *files[i - 1];
    const lsm::NewFile& after = *files[i];
    if (before.level != after.level || comparator_.Compare(before.largest, after.smallest) < 0) {
      continue;
    }
    Problem(PathOf(after.number) + ": overlaps table " + std::to_string(before.number) +
            " of level " + std::to_string(after.level) + " at " + KeyText(after.smallest));
  }
}

Status Verifier::CheckTables() {
  uint64_t total = 0;
  for (const lsm::NewFile& file : manifest_.edit.new_files) total += file.bytes;
  Progress progress(console_.err, "verify");
  for (const lsm::NewFile& file : manifest_.edit.new_files) {
    const std::string path = PathOf(file.number);
    lsm::TableCheck check(comparator_, path, [this](const std::string& text) { Problem(text); });
    check.Expect(file, *manifest_.edit.last_sequence);
    const Status status = check.Run(files_, [&](uint64_t bytes_done) {
      progress.At(report_.table_bytes + bytes_done, total, path);
    });
    if (!status.ok()) return status;
    report_.tables++;
    report_.table_bytes += file.bytes;
    report_.entries += check.entries();
  }
  return {};
}

// Replays the logs as opening would, into nothing, to learn what would be lost.
Status Verifier::CheckLogs() {
  lsm::LogReplay replay(files_, dir_, lsm::LogDamage::kPassOverEven, *manifest_.edit.last_sequence);
  replay.SetMark(mark_);
  const auto count = [this](std::string_view) {
    report_.log_records++;
    return Status();
  };
  const Status replayed = replay.Run(logs_, count);
  if (Status status = Take(replayed); !status.ok()) return status;
  for (const lsm::LogReplay::Damage& damage : replay.damages()) {
    Problem(std::string(damage.what.message()) + " (" + std::to_string(damage.bytes) +
            " bytes from there on would be skipped)");
  }
  report_.logs = logs_.size();
  // Behind a log that can't be read each is looked at for itself.
  const bool each = replayed.code() == Code::kIoError;
  if (each) report_.log_records = 0;
  for (const uint64_t number : logs_) {
    Status status = each ? CheckLogAlone(number) : NoteTornEnd(number);
    if (!status.ok()) return status;
  }
  return {};
}

Status Verifier::CheckLogAlone(uint64_t number) {
  const std::string path = lsm::LogFileName(dir_, number);
  auto file = base::AroundFile::Open(files_, path);
  if (!file) return Take(file.error());
  lsm::LogReader reader(file->get(), nullptr, lsm::LogReader::Mode::kSalvage);
  reader.Expect(lsm::RecordKind::kBatch, files_, path);
  std::string_view record;
  while (reader.Read(&record)) report_.log_records++;
  if ((*file)->unreadable().bytes > 0) {
    Problem((*file)->unreadable().ToString(path));
  } else if (reader.end() == lsm::LogEnd::kDamaged) {
    Problem(path + ": damaged, although later records follow");
  }
  return reader.status();
}

Status Verifier::NoteTornEnd(uint64_t number) {
  const std::string path = lsm::LogFileName(dir_, number);
  auto file = files_->NewSequentialFile(path);
  if (!file) return Take(file.error());
  lsm::LogReader reader(file->get(), nullptr, lsm::LogReader::Mode::kStop);
  std::string_view record;
  while (reader.Read(&record)) continue;
  if (reader.end() == lsm::LogEnd::kTorn) {
    report_.notes.push_back(path + ": torn at byte " + std::to_string(reader.valid_bytes()) +
                            ", as after a crash");
  }
  return Take(reader.status());
}

}  // namespace weft::tool
