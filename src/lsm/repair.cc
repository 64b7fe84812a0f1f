#include "lsm/repair.h"

#include <algorithm>
#include <utility>

#include "base/read_around.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
#include "lsm/foreign_store.h"
#include "lsm/limits.h"
#include "lsm/lost_files.h"
#include "lsm/table_check.h"
#include "table/salvage.h"
#include "table/table.h"

namespace weft::lsm {

namespace {

// Whether a store calls its file so.
bool IsNameOf(const std::string& name, const ParsedFileName& parsed) {
  switch (parsed.type) {
    case FileType::kLog: return name == LogFileName("", parsed.number).substr(1);
    case FileType::kManifest: return name == ManifestFileName("", parsed.number).substr(1);
    case FileType::kTable:
      return name == TableFileName("", parsed.number).substr(1) ||
             name == OldTableFileName("", parsed.number).substr(1);
    default: return true;
  }
}

bool HoldsData(FileType type) {
  return type == FileType::kLog || type == FileType::kTable || type == FileType::kManifest;
}

}  // namespace

Repair::Repair(const DbOptions& checked, std::string dir,
               std::function<void(const std::string& line)> progress)
    : options_(checked),
      dir_(std::move(dir)),
      files_(base::WithoutMappings(options_.file_system)),
      progress_(std::move(progress)),
      comparator_(options_.comparator),
      filter_(options_.filter_policy == nullptr
                  ? nullptr
                  : std::make_unique<const table::InternalFilterPolicy>(options_.filter_policy)) {
  format_.comparator = &comparator_;
  format_.filter = filter_.get();
  format_.block_size = options_.block_size;
  format_.block_restart_interval = options_.block_restart_interval;
  format_.compression = options_.compression;
  format_.zstd_level = options_.zstd_compression_level;
}

Repair::~Repair() = default;

Status Repair::Run() {
  const Status status = TakeAll();
  if (!status.ok()) RemoveNewFiles();
  return status;
}

Status Repair::TakeAll() {
  if (Status status = Find(); !status.ok()) return status;
  auto source = RepairSource::Choose(files_, dir_, options_.comparator->Name(), found_,
                                     [this](const std::string& line) { Say(line); });
  if (!source) return source.error();
  source_ = std::move(*source);
  if (!source_.has_manifest()) {
    if (Status status = CheckTablesAreOurs(); !status.ok()) return status;
  }
  OpenInfoLog();
  const VersionEdit& edit = source_.edit();
  report_.manifest_read = source_.has_manifest();
  report_.manifest_whole = source_.is_whole();
  report_.last_sequence = edit.last_sequence.value_or(0);
  if (source_.is_whole()) before_log_ = edit.last_sequence;
  if (Status status = CountNumbers(); !status.ok()) return status;
  if (Status status = TakeTables(); !status.ok()) return status;
  for (const uint64_t number : found_.logs) {
    if (source_.LogCounts(number)) {
      if (Status status = TakeLog(number); !status.ok()) return status;
    }
    to_give_up_.push_back(LogFileName("", number).substr(1));
  }
  if (unplaced_ || LevelsOverlap() || Level0OutOfOrder()) {
    if (Status status = MergeOverlapping(); !status.ok()) return status;
  }
  return Commit();
}

// Makes no file where there is no store of ours.
Status Repair::Find() {
  std::vector<std::string> names;
  if (Status status = FindStore(&names); !status.ok()) return status;
  auto lock = files_->LockFile(LockFileName(dir_));
  if (!lock) return lock.error();
  lock_ = std::move(*lock);
  found_ = {};
  if (Status status = FindStore(&names); !status.ok()) return status;  // nobody changes it now
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    if (!IsNameOf(name, parsed)) {
      GiveUpName(name);
      continue;
    }
    numbers_.insert(parsed.number);
    if (HoldsData(parsed.type) && !files_->FileExists(PathOf(name))) {
      Say(PathOf(name) + ": a dangling link, or removed meanwhile");
      names_alone_.push_back(name);
      continue;
    }
    if (parsed.type == FileType::kLog) found_.logs.push_back(parsed.number);
    if (parsed.type == FileType::kTable) found_.tables.insert(parsed.number);
    if (parsed.type != FileType::kManifest) continue;
    found_.manifests.push_back(parsed.number);
    to_give_up_.push_back(name);
  }
  std::ranges::sort(found_.logs);
  std::ranges::sort(found_.manifests);
  return {};
}

void Repair::GiveUpName(const std::string& name) {
  Say(PathOf(name) + ": no store uses such a name");
  to_give_up_.push_back(name);  // or the next opening deletes it
}

Status Repair::FindStore(std::vector<std::string>* names) const {
  if (Status status = files_->GetChildren(dir_, names); !status.ok()) return status;
  if (Status status = CheckIsNotRocksDb(files_, dir_); !status.ok()) return status;
  const bool some = std::ranges::any_of(*names, [](const std::string& name) {
    ParsedFileName parsed;
    return ParseFileName(name, &parsed) && HoldsData(parsed.type);
  });
  return some ? Status() : Status(Code::kNotFound, dir_ + ": this folder contains no store");
}

// Of a store of RocksDB that has lost its other files.
Status Repair::CheckTablesAreOurs() const {
  for (const uint64_t number : found_.tables) {
    const std::string path = PathOfTable(number);
    Result<bool> is_rocksdb = IsRocksDbTable(files_, path);
    if (!is_rocksdb) return is_rocksdb.error();
    if (*is_rocksdb) return OfRocksDb(path);
  }
  return {};
}

// The log of the last time is kept, as an opening keeps it.
void Repair::OpenInfoLog() {
  info_log_ = options_.info_log;
  if (info_log_ == nullptr) {
    (void)files_->RenameFile(InfoLogFileName(dir_), OldInfoLogFileName(dir_));
    auto log = NewFileLogger(files_, InfoLogFileName(dir_));
    if (log) info_log_ = std::move(*log);
  }
  if (info_log_ == nullptr) return;
  for (const std::string& line : said_early_) info_log_->Log(line);
  said_early_.clear();
}

Status Repair::TakeTables() {
  for (const NewFile& table : source_.edit().new_files) {
    if (found_.tables.contains(table.number)) continue;
    Say(TableFileName(dir_, table.number) + " is missing, although the manifest names it");
    report_.tables_missing++;
  }
  for (const uint64_t number : found_.tables) {
    if (Status status = TakeTable(number); !status.ok()) return status;
  }
  return {};
}

// Reads a table's ends and newest sequence number. kCorruption where it is not whole.
Status Repair::Measure(const std::string& path, Kept* kept) {
  auto bytes = files_->GetFileSize(path);
  if (!bytes) return bytes.error();
  const uint64_t bytes_max = source_.BytesOf(kept->file.number).value_or(UINT64_MAX);
  *bytes = std::min(*bytes, bytes_max);
  auto file = files_->NewRandomAccessFile(path);
  if (!file) return file.error();
  table::TableReadOptions read;
  read.order = &comparator_;
  read.filter = filter_.get();
  read.verify = true;
  auto table = table::Table::Open(read, std::move(*file), *bytes, path);
  if (!table) return table.error();
  std::string problem;
  const auto note = [&](const std::string& text) {
    if (problem.empty()) problem = text;
  };
  TableCheck check(comparator_, path, note, filter_.get());
  check.ExpectBytes(bytes_max);
  if (Status status = check.Run(files_, nullptr); !status.ok()) return status;
  if (!problem.empty()) return {Code::kCorruption, problem};
  kept->path = path;
  kept->file.bytes = check.bytes();
  kept->file.smallest = check.first_key();
  kept->file.largest = check.last_key();
  kept->newest = check.newest();
  report_.last_sequence = std::max(report_.last_sequence, kept->newest);
  return {};
}

Status Repair::TakeTable(uint64_t number) {
  const std::string path = PathOfTable(number);
  const std::string old_path = OldTableFileName(dir_, number);
  if (path != old_path && files_->FileExists(old_path)) {
    Say(old_path + " exists twice; this one is ignored");
    GiveUpTable(old_path);
  }
  const RepairSource::Verdict verdict = source_.JudgeTable(number);
  if (verdict == RepairSource::Verdict::kOut) {
    Say(path + " is no longer part of the store");
    GiveUpTable(path);
    return {};
  }
  const std::optional<int> level = source_.LevelOf(number);
  Kept kept;
  kept.file.number = number;
  kept.file.level = level.value_or(0);
  const Status whole = Measure(path, &kept);
  if (!whole.ok()) {
    if (!IsOfTheFile(whole)) return whole;
    Say(std::string(whole.message()));
    if (Status status = Salvage(path, &kept); !status.ok()) return status;
    if (kept.file.number == 0) return {};
  }
  if (verdict == RepairSource::Verdict::kIfNewer && !source_.IsNewer(kept.newest)) {
    Say(path + " is no longer part of the store");
    GiveUpTable(kept.path);
    return {};
  }
  if (kept.file.number == number && number >= first_new_) {
    if (Status status = Renumber(&kept); !status.ok()) return status;
  }
  unplaced_ |= !level;
  newest_of_tables_ = std::max(newest_of_tables_, kept.newest);
  if (whole.ok()) report_.tables_whole++;
  kept_.push_back(std::move(kept));
  return {};
}

Status Repair::Salvage(const std::string& path, Kept* kept) {
  const uint64_t number = next_file_++;
  const std::string to = TableFileName(dir_, number);
  auto file = Make(to, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format_, file->get());
  table::TableSalvage salvage(&comparator_, [&](std::string_view key, std::string_view value) {
    builder.Add(key, value);
    return builder.status();
  });
  // No record of a manifest names a table that is newer than its last sequence number.
  if (source_.LevelOf(kept->file.number) && source_.edit().last_sequence) {
    salvage.SetNewest(*source_.edit().last_sequence);
  }
  if (const auto bytes = source_.BytesOf(kept->file.number)) salvage.SetBytesMax(*bytes);
  Status status = salvage.Run(files_, path);
  GiveUpTable(path);
  report_.table_bytes_dropped += salvage.skipped_bytes();
  NoteUnreadable(salvage.unreadable(), path);
  report_.table_blocks_dropped += salvage.skipped_blocks();
  report_.table_entries_dropped += salvage.skipped_entries();
  Say(path + ": kept " + std::to_string(salvage.entries()) + " entries of " +
      std::to_string(salvage.blocks()) + " blocks, dropped " +
      std::to_string(salvage.skipped_blocks()) + " blocks" +
      (salvage.by_index() ? "" : " (its index is damaged, so it was searched for blocks)"));
  if (salvage.not_looked_at() > 0) {
    Say(path + ": " + std::to_string(salvage.not_looked_at()) +
        " places that may be blocks were skipped: too many of them overlap, or their keys are "
        "hundreds of times their size");
  }
  if (!status.ok() || salvage.entries() == 0) {
    builder.Abandon();
    report_.tables_lost++;
    kept->file.number = 0;
    (void)files_->RemoveFile(to);
    return status;
  }
  status = builder.Finish();
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  kept->file.number = number;
  if (status.ok()) status = Measure(to, kept);
  if (status.ok()) report_.tables_salvaged++;
  return status;
}

std::string Repair::PathOfTable(uint64_t number) const {
  const std::string path = TableFileName(dir_, number);
  return files_->FileExists(path) ? path : OldTableFileName(dir_, number);
}

void Repair::NoteUnreadable(const base::Unreadable& unreadable, const std::string& path) {
  if (unreadable.bytes == 0) return;
  report_.unreadable_bytes += unreadable.bytes;
  Say(unreadable.ToString(path));
}

void Repair::Say(const std::string& line) {
  if (info_log_ != nullptr) {
    info_log_->Log(line);
  } else {
    said_early_.push_back(line);
  }
  if (progress_ != nullptr) progress_(line);
}

}  // namespace weft::lsm

namespace weft {

Status RepairDb(const std::string& dir, const DbOptions& options) {
  Result<DbOptions> checked = lsm::CheckedOptions(options);
  if (!checked) return checked.error();
  return lsm::Repair(*checked, dir, nullptr).Run();
}

}  // namespace weft
