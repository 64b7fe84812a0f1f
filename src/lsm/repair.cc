#include "lsm/repair.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compaction/job.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
#include "lsm/level_targets.h"
#include "lsm/log_reader.h"
#include "lsm/log_replay.h"
#include "lsm/log_writer.h"
#include "lsm/write_batch_internal.h"
#include "table/salvage.h"
#include "table/table.h"
#include "table/table_iterator.h"

namespace weft::lsm {

namespace {

class DropCounter final : public LogReader::Reporter {
 public:
  void Dropped(uint64_t, uint64_t bytes, std::string_view) override { bytes_ += bytes; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

// Carries the records of a manifest out, one after another.
class ManifestState {
 public:
  void Apply(const VersionEdit& edit) {
    if (edit.comparator) sum_.comparator = edit.comparator;
    if (edit.log_number) sum_.log_number = edit.log_number;
    if (edit.prev_log_number) sum_.prev_log_number = edit.prev_log_number;
    if (edit.next_file_number) sum_.next_file_number = edit.next_file_number;
    if (edit.last_sequence) sum_.last_sequence = edit.last_sequence;
    for (const auto& [level, number] : edit.removed_files) files_.erase({level, number});
    for (const NewFile& file : edit.new_files) files_[{file.level, file.number}] = file;
  }
  VersionEdit Take() {
    for (auto& [place, file] : files_) sum_.new_files.push_back(std::move(file));
    return std::move(sum_);
  }

 private:
  VersionEdit sum_;
  std::map<std::pair<int, uint64_t>, NewFile> files_;
};

// Opens, and reads through, the table at `path`.
Result<std::unique_ptr<table::Table>> OpenWhole(FileSystem* files,
                                                const table::InternalComparator* comparator,
                                                const FilterPolicy* filter,
                                                const std::string& path) {
  auto bytes = files->GetFileSize(path);
  if (!bytes) return bytes.error();
  auto file = files->NewRandomAccessFile(path);
  if (!file) return file.error();
  table::TableReadOptions read;
  read.order = comparator;
  read.filter = filter;
  auto table = table::Table::Open(read, std::move(*file), *bytes, path);
  if (!table) return table.error();
  if (Status status = (*table)->Verify(nullptr); !status.ok()) return status;
  return table;
}

}  // namespace

Repair::Repair(const DbOptions& checked, std::string dir,
               std::function<void(const std::string& line)> progress)
    : options_(checked),
      dir_(std::move(dir)),
      files_(options_.file_system),
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

Status Repair::Run() {
  if (Status status = Find(); !status.ok()) return status;
  if (Status status = ReadManifest(); !status.ok()) return status;
  std::map<uint64_t, int> level_of;
  if (state_) {
    for (const NewFile& file : state_->new_files) level_of[file.number] = file.level;
  }
  for (const uint64_t number : tables_) {
    const auto found = level_of.find(number);
    if (state_ && found == level_of.end()) {
      Say("table " + std::to_string(number) + " is no longer part of the store");
      GiveUp(PathOfTable(number).substr(dir_.size() + 1));
      continue;
    }
    const int level = found == level_of.end() ? -1 : found->second;
    if (Status status = TakeTable(number, level); !status.ok()) return status;
  }
  for (const uint64_t number : logs_) {
    if (Status status = TakeLog(number); !status.ok()) return status;
  }
  if (!state_ || LevelsOverlap() || Level0OutOfOrder()) {
    if (Status status = MergeOverlapping(); !status.ok()) return status;
  }
  return WriteManifest();
}

Status Repair::Find() {
  std::vector<std::string> names;
  if (Status status = files_->GetChildren(dir_, &names); !status.ok()) return status;
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    next_file_ = std::max(next_file_, parsed.number + 1);
    if (parsed.type == FileType::kLog) logs_.push_back(parsed.number);
    if (parsed.type == FileType::kTable) tables_.insert(parsed.number);
    if (parsed.type == FileType::kManifest) manifests_.push_back(name);
  }
  std::ranges::sort(logs_);
  if (logs_.empty() && tables_.empty() && manifests_.empty()) {
    return {Code::kNotFound, dir_ + ": there is no file of a store"};
  }
  return {};
}

// Sets state_ if the manifest that CURRENT names reads to its end, and every table it names is
// there. A torn last record was never acknowledged.
Status Repair::ReadManifest() {
  auto number = ReadCurrentFile(files_, dir_);
  if (!number) {
    Say(number.error().ToString());
    return number.error().code() == Code::kIoError ? number.error() : Status();
  }
  auto file = files_->NewSequentialFile(ManifestFileName(dir_, *number));
  if (!file) {
    Say(file.error().ToString());
    return file.error().code() == Code::kIoError ? file.error() : Status();
  }
  LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
  ManifestState state;
  std::string_view record;
  bool whole = true;
  while (whole && reader.Read(&record)) {
    VersionEdit edit;
    whole = edit.DecodeFrom(record).ok();
    if (whole) state.Apply(edit);
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  whole = whole && (reader.end() == LogEnd::kClean || reader.end() == LogEnd::kTorn);
  VersionEdit sum = state.Take();
  if (sum.comparator && *sum.comparator != options_.comparator->Name()) {
    return {Code::kInvalidArgument, dir_ + ": its comparator is " + *sum.comparator + ", not " +
                                        options_.comparator->Name()};
  }
  for (const NewFile& table : sum.new_files) whole = whole && tables_.contains(table.number);
  const uint64_t log = sum.log_number.value_or(0);
  // A log that is named and missing: the manifest's end is lost, or the log is. Either way more may
  // count than it says.
  if (log != 0 && !std::ranges::binary_search(logs_, log)) whole = false;
  if (!whole || !sum.comparator || !sum.next_file_number || !sum.last_sequence) {
    Say("the manifest does not read, or not all it names is there: taking every table");
    return {};
  }
  report_.manifest_read = true;
  report_.last_sequence = *sum.last_sequence;
  next_file_ = std::max(next_file_, *sum.next_file_number);
  // Logs below it are in tables, and what they hold may have been deleted since.
  std::erase_if(logs_, [&](uint64_t each) {
    if (each >= log || each == sum.prev_log_number.value_or(0)) return false;
    GiveUp(LogFileName("", each).substr(1));
    return true;
  });
  state_ = std::move(sum);
  return {};
}

Status Repair::TakeLog(uint64_t number) {
  const std::string path = LogFileName(dir_, number);
  auto file = files_->NewSequentialFile(path);
  if (!file) return file.error();
  DropCounter dropped;
  LogReader reader(file->get(), &dropped, LogReader::Mode::kSalvage);
  auto memtable = std::make_unique<MemTable>(comparator_);
  table::SequenceNumber last = 0;
  std::string_view record;
  uint64_t refused = 0;
  while (reader.Read(&record)) {
    // Numbers that do not rise were never written by a store: nothing may hide what is newer.
    if (record.size() < WriteBatchInternal::kHeaderBytes ||
        !WriteBatchInternal::Check(record).ok() || WriteBatchInternal::SequenceOf(record) <= last ||
        WriteBatchInternal::SequenceOf(record) >
            table::kSequenceMax - WriteBatchInternal::CountOf(record)) {
      refused += record.size();
      continue;
    }
    const uint32_t count = WriteBatchInternal::CountOf(record);
    if (count == 0) continue;  // takes no number: the next record has the same one
    last = WriteBatchInternal::SequenceOf(record) + count - 1;
    if (Status status = WriteBatchInternal::InsertInto(record, memtable.get()); !status.ok()) {
      return status;
    }
    if (memtable->MemoryUsage() <= options_.write_buffer_size) continue;
    if (Status status = WriteMemTable(*memtable); !status.ok()) return status;
    memtable = std::make_unique<MemTable>(comparator_);
  }
  if (reader.end() == LogEnd::kReadError) return reader.status();
  report_.logs++;
  report_.log_bytes_dropped += dropped.bytes() + refused;
  if (dropped.bytes() + refused > 0) {
    Say(path + ": passed over " + std::to_string(dropped.bytes() + refused) + " bytes");
  }
  GiveUp(LogFileName("", number).substr(1));
  return WriteMemTable(*memtable);
}

Status Repair::WriteMemTable(const MemTable& memtable) {
  const auto entries = memtable.NewIterator();
  entries->SeekToFirst();
  if (!entries->Valid()) return entries->status();
  const uint64_t number = next_file_++;
  const std::string path = TableFileName(dir_, number);
  auto file = files_->NewWritableFile(path, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format_, file->get());
  for (; entries->Valid(); entries->Next()) builder.Add(entries->key(), entries->value());
  Status status = builder.Finish();
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  Kept kept;
  kept.file.number = number;
  kept.file.level = 0;
  if (status.ok()) status = Measure(path, &kept);
  if (status.ok()) kept_.push_back(std::move(kept));
  return status;
}

// Reads a whole table's ends and newest sequence number. Fails where it is not whole.
Status Repair::Measure(const std::string& path, Kept* kept) {
  auto table = OpenWhole(files_, &comparator_, filter_.get(), path);
  if (!table) return table.error();
  kept->path = path;
  kept->file.bytes = (*table)->file_bytes();
  const auto entries = (*table)->NewIterator({});
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    table::ParsedKey parsed;
    if (!table::ParseInternalKey(entries->key(), &parsed)) {
      return {Code::kCorruption, path + ": holds a key that is no store's"};
    }
    if (kept->file.smallest.empty()) kept->file.smallest = entries->key();
    kept->file.largest.assign(entries->key());
    kept->newest = std::max(kept->newest, parsed.sequence);
  }
  report_.last_sequence = std::max(report_.last_sequence, kept->newest);
  return entries->status();
}

Status Repair::TakeTable(uint64_t number, int level) {
  const std::string path = PathOfTable(number);
  Kept kept;
  kept.file.number = number;
  kept.file.level = std::max(level, 0);
  const Status whole = Measure(path, &kept);
  if (whole.ok() && !kept.file.smallest.empty()) {
    report_.tables_whole++;
    kept_.push_back(std::move(kept));
    return {};
  }
  if (whole.code() == Code::kIoError) return whole;
  Say(whole.ok() ? path + ": holds nothing" : whole.ToString());
  return TakeDamagedTable(path, std::max(level, 0));
}

// Copies what is whole of it into a new table.
Status Repair::TakeDamagedTable(const std::string& path, int level) {
  const uint64_t number = next_file_++;
  const std::string to = TableFileName(dir_, number);
  auto file = files_->NewWritableFile(to, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format_, file->get());
  table::TableSalvage salvage(&comparator_, [&](std::string_view key, std::string_view value) {
    builder.Add(key, value);
    return builder.status();
  });
  Status status = salvage.Run(files_, path);
  GiveUp(path.substr(dir_.size() + 1));
  report_.table_bytes_dropped += salvage.skipped_bytes();
  Say(path + ": kept " + std::to_string(salvage.entries()) + " entries of " +
      std::to_string(salvage.blocks()) + " blocks");
  if (!status.ok() || salvage.entries() == 0) {
    builder.Abandon();
    report_.tables_lost++;
    (void)files_->RemoveFile(to);
    return status;
  }
  status = builder.Finish();
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  Kept kept;
  kept.file.number = number;
  kept.file.level = level;
  if (status.ok()) status = Measure(to, &kept);
  if (!status.ok()) return status;
  report_.tables_salvaged++;
  kept_.push_back(std::move(kept));
  return {};
}

std::string Repair::PathOfTable(uint64_t number) const {
  const std::string path = TableFileName(dir_, number);
  return files_->FileExists(path) ? path : OldTableFileName(dir_, number);
}

bool Repair::LevelsOverlap() const {
  std::vector<const NewFile*> files;
  for (const Kept& kept : kept_) {
    if (kept.file.level > 0) files.push_back(&kept.file);
  }
  std::ranges::sort(files, [&](const NewFile* a, const NewFile* b) {
    if (a->level != b->level) return a->level < b->level;
    return comparator_.Compare(a->smallest, b->smallest) < 0;
  });
  for (size_t i = 1; i < files.size(); i++) {
    if (files[i - 1]->level == files[i]->level &&
        comparator_.Compare(files[i - 1]->largest, files[i]->smallest) >= 0) {
      return true;
    }
  }
  return false;
}

// In level 0 the greater number is the newer table. What was copied out of a damaged one has a
// greater number than tables that are newer.
bool Repair::Level0OutOfOrder() const {
  std::map<uint64_t, table::SequenceNumber> newest;  // by file number
  for (const Kept& kept : kept_) {
    if (kept.file.level == 0) newest[kept.file.number] = kept.newest;
  }
  table::SequenceNumber before = 0;
  for (const auto& [number, sequence] : newest) {
    if (sequence < before) return true;
    before = sequence;
  }
  return false;
}

// The first level that takes so much, so that nothing must be compacted at once.
int Repair::LevelFor(uint64_t bytes) const {
  const LevelTargets targets(options_);
  int level = 1;
  while (level < kLevels - 1 && targets.TargetBytes(level) < bytes) level++;
  return level;
}

// Nothing says which table is newer. Tables that overlap no other stay as they are; the others are
// merged, for within a key the sequence numbers tell.
Status Repair::MergeOverlapping() {
  std::ranges::sort(kept_, [&](const Kept& a, const Kept& b) {
    return comparator_.Compare(a.file.smallest, b.file.smallest) < 0;
  });
  uint64_t bytes = 0;
  for (const Kept& kept : kept_) bytes += kept.file.bytes;
  const int level = LevelFor(bytes);
  std::vector<Kept> merged;
  for (size_t i = 0; i < kept_.size();) {
    std::vector<Kept> cluster{kept_[i]};
    std::string end(table::UserKey(kept_[i].file.largest));
    for (i++; i < kept_.size(); i++) {
      if (comparator_.CompareUser(table::UserKey(kept_[i].file.smallest), end) > 0) break;
      const std::string_view largest = table::UserKey(kept_[i].file.largest);
      if (comparator_.CompareUser(largest, end) > 0) end = largest;
      cluster.push_back(kept_[i]);
    }
    if (Status status = MergeCluster(std::move(cluster), level, &merged); !status.ok()) {
      return status;
    }
  }
  kept_ = std::move(merged);
  return {};
}

Status Repair::MergeCluster(std::vector<Kept> cluster, int level, std::vector<Kept>* merged) {
  if (cluster.size() == 1) {
    cluster.front().file.level = level;
    merged->push_back(std::move(cluster.front()));
    return {};
  }
  Say("merging " + std::to_string(cluster.size()) + " tables that overlap");
  compaction::Job job;
  job.files = files_;
  job.level = 0;
  job.output_level = level;
  job.oldest_snapshot = table::kSequenceMax;
  job.comparator = &comparator_;
  job.format = format_;
  job.output_bytes_max = options_.max_file_size;
  for (const Kept& kept : cluster) {  // by their smallest keys
    const auto fits = [&](const std::vector<compaction::JobTable>& run) {
      return comparator_.CompareUser(table::UserKey(run.back().largest),
                                     table::UserKey(kept.file.smallest)) < 0;
    };
    auto run = std::ranges::find_if(job.runs, fits);
    if (run == job.runs.end()) run = job.runs.emplace(job.runs.end());
    run->push_back(
        {kept.file.number, kept.file.bytes, kept.path, kept.file.smallest, kept.file.largest});
    GiveUp(kept.path.substr(dir_.size() + 1));
  }
  compaction::JobHost host;
  host.new_output = [this] {
    const uint64_t number = next_file_++;
    return compaction::JobHost::NewFile{number, TableFileName(dir_, number)};
  };
  compaction::JobResult result = compaction::NewCpuExecutor()->Run(job, host);
  report_.tables_merged += cluster.size();
  for (compaction::OutputTable& output : result.outputs) {
    Kept kept;
    kept.path = output.path;
    kept.file = {level, output.number, output.bytes, std::move(output.smallest),
                 std::move(output.largest)};
    merged->push_back(std::move(kept));
  }
  return result.status;
}

Status Repair::WriteManifest() {
  VersionEdit edit;
  edit.comparator = options_.comparator->Name();
  edit.log_number = 0;
  edit.last_sequence = report_.last_sequence;
  for (const Kept& kept : kept_) edit.new_files.push_back(kept.file);
  const uint64_t number = next_file_++;
  edit.next_file_number = next_file_;
  std::string record;
  edit.EncodeTo(&record);
  auto manifest = files_->NewWritableFile(ManifestFileName(dir_, number), FileUse::kManifest);
  if (!manifest) return manifest.error();
  Status status = LogWriter(manifest->get()).AddRecord(record);
  if (status.ok()) status = (*manifest)->Sync();
  if (status.ok()) status = (*manifest)->Close();
  if (status.ok()) status = files_->SyncDir(dir_);
  if (status.ok()) status = SetCurrentFile(files_, dir_, number);
  if (!status.ok()) return status;
  // Only now: until CURRENT named the new manifest, all of them were needed.
  for (const std::string& name : manifests_) GiveUp(name);
  const std::string lost = PathOf("lost");
  (void)files_->CreateDir(lost);
  for (const std::string& name : to_give_up_) {
    if (status.ok()) status = files_->RenameFile(PathOf(name), lost + "/" + name);
  }
  if (files_->FileExists(CloseMarkFileName(dir_))) {
    (void)files_->RemoveFile(CloseMarkFileName(dir_));
  }
  return status.ok() ? files_->SyncDir(dir_) : status;
}

void Repair::GiveUp(const std::string& name) { to_give_up_.push_back(name); }

void Repair::Say(const std::string& line) const {
  if (options_.info_log != nullptr) options_.info_log->Log(line);
  if (progress_ != nullptr) progress_(line);
}

}  // namespace weft::lsm

namespace weft {

Status RepairDb(const std::string& dir, const DbOptions& options) {
  Result<DbOptions> checked = lsm::CheckedOptions(options);
  if (!checked) return checked.error();
  FileSystem* const files = checked->file_system;
  Result<std::unique_ptr<FileLock>> lock = files->LockFile(lsm::LockFileName(dir));
  if (!lock) return lock.error();
  if (checked->info_log == nullptr) {
    auto log = NewFileLogger(files, lsm::InfoLogFileName(dir));
    if (log) checked->info_log = std::move(*log);
  }
  return lsm::Repair(*checked, dir, nullptr).Run();
}

}  // namespace weft
