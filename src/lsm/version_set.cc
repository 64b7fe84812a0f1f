#include "lsm/version_set.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "lsm/limits.h"
#include "lsm/own_files.h"

namespace weft::lsm {
namespace {

Status Prefixed(const std::string& path, const Status& status) {
  return Status(status.code(), path + ": " + std::string(status.message()));
}

}  // namespace

VersionSet::VersionSet(const DbOptions& options, std::string dir,
                       const table::InternalComparator* comparator, TableCache* tables,
                       base::Mutex* mutex, Logger* logger)
    : options_(options),
      files_(options.file_system),
      dir_(std::move(dir)),
      comparator_(comparator),
      tables_(tables),
      mutex_(mutex),
      logger_(logger),
      current_(Version::MakeEmpty(comparator, tables)) {}

VersionSet::~VersionSet() = default;

Status VersionSet::CreateNew() {
  VersionEdit first;
  first.comparator = comparator_->user()->Name();
  first.log_number = 0;
  first.next_file_number = 2;
  first.last_sequence = 0;
  Result<OpenManifest> manifest = CreateManifest(files_, dir_, 1, first);
  if (!manifest) return manifest.error();
  if (Status status = manifest->file->Close(); !status.ok()) return status;
  return SetCurrentFile(files_, dir_, 1);
}

Status VersionSet::Recover() {
  mutex_->AssertHeld();
  const Result<uint64_t> number = ReadCurrentFile(files_, dir_);
  if (!number) return number.error();
  const std::string path = ManifestFileName(dir_, number.value());
  Result<std::unique_ptr<SequentialFile>> file = files_->NewSequentialFile(path);
  if (!file && file.error().code() == Code::kNotFound) {
    return Status(Code::kCorruption, path + ", which CURRENT names, is missing");
  }
  if (!file) return file.error();
  const Result<ManifestState> read = ReadManifest(file->get(), path);
  if (!read) return read.error();
  const ManifestState& state = read.value();
  if (Status status = CheckManifest(state, path); !status.ok()) return status;
  Result<std::optional<CloseMark>> mark = FindCloseMark(files_, dir_, number.value(), state);
  if (!mark) return mark.error();
  close_mark_ = std::move(mark.value());
  VersionEdit tables;
  tables.new_files = state.edit.new_files;
  Result<VersionRef> version = Version::MakeEmpty(comparator_, tables_)->Apply(tables);
  if (!version) return Prefixed(path, version.error());
  counted_max_ = CountedFileNumberMax(*state.edit.next_file_number);
  if (Status status = CheckFilesPresent(state, path); !status.ok()) return status;
  manifest_was_torn_ = state.valid_bytes < state.file_bytes;
  if (state.end == LogEnd::kTorn) {
    Log(path + ": skipped its torn end after byte " + std::to_string(state.valid_bytes));
  }
  TakeState(state, number.value(), std::move(version.value()));
  return {};
}

Status VersionSet::CheckManifest(const ManifestState& state, const std::string& path) const {
  const VersionEdit& edit = state.edit;
  const std::string ours = comparator_->user()->Name();
  if (edit.comparator && *edit.comparator != ours) {
    return Status(Code::kInvalidArgument,
                  path + ": the store's comparator is " + *edit.comparator + ", not " + ours);
  }
  return CheckFileNumbers(edit, path);
}

Status VersionSet::CheckFilesPresent(const ManifestState& state, const std::string& path) {
  std::vector<std::string> names;
  if (Status status = files_->GetChildren(dir_, &names); !status.ok()) return status;
  std::set<uint64_t> tables;
  std::set<uint64_t> logs;
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    if (parsed.type == FileType::kTable) tables.insert(parsed.number);
    if (parsed.type == FileType::kLog) logs.insert(parsed.number);
    CountName(parsed.number);
  }
  size_t missing = 0;
  uint64_t first_missing = 0;
  for (const NewFile& table : state.edit.new_files) {
    if (tables.count(table.number) == 0 && missing++ == 0) first_missing = table.number;
  }
  if (missing > 0) {
    return Status(Code::kCorruption, path + " names " + std::to_string(missing) +
                                         " tables that are missing, such as " +
                                         TableFileName(dir_, first_missing));
  }
  // A log goes only when a later record names a later one, so that record is lost: it stood in the
  // manifest's torn end, or the manifest was replaced by an older one.
  const uint64_t log = *state.edit.log_number;
  if (log != 0 && logs.count(log) == 0) {
    return Status(Code::kCorruption, path + " names the log " + LogFileName(dir_, log) +
                                         ", which is missing: its last records are lost");
  }
  return {};
}

void VersionSet::TakeState(const ManifestState& state, uint64_t manifest_number,
                           VersionRef version) {
  mutex_->AssertHeld();
  const VersionEdit& edit = state.edit;
  MarkFileNumberUsed(manifest_number);
  MarkFileNumberUsed(*edit.next_file_number - std::min<uint64_t>(1, *edit.next_file_number));
  MarkFileNumberUsed(*edit.log_number);
  MarkFileNumberUsed(edit.prev_log_number.value_or(0));
  for (const NewFile& table : edit.new_files) MarkFileNumberUsed(table.number);
  for (const auto& [level, key] : edit.compact_pointers) {
    compact_pointers_[static_cast<size_t>(level)] = key;
  }
  log_number_ = *edit.log_number;
  prev_log_number_ = edit.prev_log_number.value_or(0);
  manifest_number_ = manifest_number;
  last_sequence_ = *edit.last_sequence;
  Install(std::move(version));
  const bool whole = state.end == LogEnd::kClean && state.valid_bytes == state.file_bytes;
  // A mark must know the manifest by its identity.
  manifest_.identity = edit.identity.value_or(0);
  const bool reuse = options_.reuse_logs && whole && manifest_.identity != 0 &&
                     state.file_bytes < options_.max_file_size;
  reusable_bytes_ = reuse ? state.file_bytes : 0;
  manifest_.end = state.ends.back();
}

bool VersionSet::needs_new_manifest() const {
  return manifest_.file == nullptr && reusable_bytes_ == 0;
}

Status VersionSet::LogAndApply(VersionEdit* edit, base::Mutex* mutex) {
  WEFT_DCHECK(mutex == mutex_);
  mutex_->AssertHeld();
  while (writing_) write_ended_.Wait(mutex);
  writing_ = true;
  CompleteEdit(edit);
  const bool names_files = !edit->new_files.empty() || *edit->log_number != log_number_;
  Turn turn{current_, compact_pointers_, manifest_number_, names_files, in_doubt_};
  mutex->Unlock();
  const Result<VersionRef> after = turn.before->Apply(*edit);
  Status status = after ? OwnFileError(Write(edit, &turn)) : after.error();
  mutex->Lock();
  mutex_->AssertHeld();
  manifest_number_ = turn.manifest_number;
  in_doubt_ = turn.in_doubt;
  if (status.ok()) {
    log_number_ = *edit->log_number;
    prev_log_number_ = *edit->prev_log_number;
    last_sequence_ = *edit->last_sequence;
    Install(after.value());
  }
  writing_ = false;
  write_ended_.NotifyAll();
  return status;
}

void VersionSet::CompleteEdit(VersionEdit* edit) {
  mutex_->AssertHeld();
  edit->log_number = std::max(edit->log_number.value_or(0), log_number_);
  WEFT_CHECK(*edit->log_number < next_file_number());
  if (!edit->prev_log_number) edit->prev_log_number = prev_log_number_;
  edit->last_sequence = std::max(edit->last_sequence.value_or(0), last_sequence_);
  for (const auto& [level, key] : edit->compact_pointers) {
    compact_pointers_[static_cast<size_t>(level)] = key;
  }
}

Status VersionSet::Write(VersionEdit* edit, Turn* turn) {
  if (manifest_.file == nullptr && reusable_bytes_ > 0) ReopenManifest(turn->manifest_number);
  if (manifest_.file == nullptr) return BeginManifest(edit, turn);
  if (ManifestIsLong()) {
    Status status = BeginManifest(edit, turn);
    if (turn->in_doubt) manifest_ = {};  // CURRENT may name the other one
    if (status.ok() || turn->in_doubt) return status;
    Log("could not begin a new manifest, so the long one continues: " + status.ToString());
  }
  // The names of tables and logs must be safe before the manifest names them.
  Status status = turn->names_files ? files_->SyncDir(dir_) : Status();
  if (!status.ok()) return status;
  edit->next_file_number = next_file_number();
  status = manifest_.Add(*edit);
  if (status.ok()) return status;
  // Nobody knows what the manifest has now. A fresh one settles it; until then both may be true.
  Log("could not write to the manifest, so a new one begins: " + status.ToString());
  turn->in_doubt = true;
  manifest_ = {};
  return BeginManifest(edit, turn);
}

bool VersionSet::ManifestIsLong() const {
  const uint64_t bytes = manifest_.log->offset();
  return bytes > options_.max_manifest_file_size && bytes > 4 * manifest_.fresh_bytes;
}

void VersionSet::ReopenManifest(uint64_t number) {
  Result<std::unique_ptr<WritableFile>> file =
      files_->NewAppendableFile(ManifestFileName(dir_, number), FileUse::kManifest);
  // Where that fails a new manifest does as well.
  if (file) manifest_.Begin(std::move(file.value()));
  reusable_bytes_ = 0;
}

Status VersionSet::BeginManifest(VersionEdit* edit, Turn* turn) {
  const uint64_t number = NewFileNumber();
  edit->next_file_number = next_file_number();
  Result<OpenManifest> manifest = CreateManifest(files_, dir_, number, Snapshot(*turn));
  if (!manifest) return manifest.error();
  if (Status status = manifest->Add(*edit); !status.ok()) {
    manifest.value() = {};
    // CURRENT does not name it.
    (void)files_->RemoveFile(ManifestFileName(dir_, number));
    return status;
  }
  if (Status status = SetCurrentFile(files_, dir_, number); !status.ok()) {
    // CURRENT may name either.
    turn->in_doubt = true;
    return status;
  }
  manifest_ = std::move(manifest.value());
  turn->manifest_number = number;
  turn->in_doubt = false;
  return {};
}

VersionEdit VersionSet::Snapshot(const Turn& turn) const {
  VersionEdit snapshot;
  snapshot.comparator = comparator_->user()->Name();
  for (int level = 0; level < kLevels; ++level) {
    const std::string& pointer = turn.pointers[static_cast<size_t>(level)];
    if (!pointer.empty()) snapshot.compact_pointers.emplace_back(level, pointer);
    for (const FileRef& file : turn.before->level(level).files()) {
      snapshot.AddFile(level, file->number, file->bytes, file->smallest, file->largest);
    }
  }
  return snapshot;
}

void VersionSet::Install(VersionRef version) {
  mutex_->AssertHeld();
  versions_.remove_if([](const auto& old) { return old.expired(); });
  versions_.push_back(version);
  current_ = std::move(version);
}

VersionRef VersionSet::current() const {
  mutex_->AssertHeld();
  return current_;
}

CompactPointers* VersionSet::compact_pointers() {
  mutex_->AssertHeld();
  return &compact_pointers_;
}

void VersionSet::MarkFileNumberUsed(uint64_t number) {
  if (number > kFileNumberMax) return;  // as a CURRENT may name that somebody wrote
  uint64_t next = next_file_number();
  while (next <= number &&
         !next_file_number_.compare_exchange_weak(next, number + 1, std::memory_order_relaxed)) {
  }
}

bool VersionSet::CountName(uint64_t number) {
  if (number > counted_max_) return false;
  MarkFileNumberUsed(number);
  return true;
}

uint64_t VersionSet::log_number() const {
  mutex_->AssertHeld();
  return log_number_;
}

uint64_t VersionSet::prev_log_number() const {
  mutex_->AssertHeld();
  return prev_log_number_;
}

table::SequenceNumber VersionSet::last_sequence() const {
  mutex_->AssertHeld();
  return last_sequence_;
}

uint64_t VersionSet::manifest_number() const {
  mutex_->AssertHeld();
  return manifest_number_;
}

bool VersionSet::DescribeManifest(CloseMark* mark) const {
  mutex_->AssertHeld();
  WEFT_CHECK(!writing_);
  if (in_doubt_ || manifest_.identity == 0) return false;
  mark->manifest_number = manifest_number_;
  mark->manifest_bytes = manifest_.end.bytes;
  mark->manifest_crc = manifest_.end.crc;
  mark->manifest_identity = manifest_.identity;
  return true;
}

uint64_t VersionSet::BeginJob() {
  mutex_->AssertHeld();
  return *jobs_.insert(next_file_number());
}

void VersionSet::EndJob(uint64_t job) {
  mutex_->AssertHeld();
  const auto at = jobs_.find(job);
  WEFT_CHECK(at != jobs_.end());
  jobs_.erase(at);
}

bool VersionSet::may_delete_files() const {
  mutex_->AssertHeld();
  return !in_doubt_;
}

std::vector<uint64_t> VersionSet::LiveTables() const {
  mutex_->AssertHeld();
  // Most versions share most levels.
  std::set<const Level*> levels;
  std::vector<VersionRef> held;
  for (const std::weak_ptr<const Version>& each : versions_) {
    VersionRef version = each.lock();
    if (version == nullptr) continue;
    for (int level = 0; level < kLevels; ++level) levels.insert(&version->level(level));
    held.push_back(std::move(version));
  }
  std::vector<uint64_t> live;
  for (const Level* level : levels) {
    for (const FileRef& file : level->files()) live.push_back(file->number);
  }
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  return live;
}

bool VersionSet::IsNeeded(const ParsedFileName& file, const std::vector<uint64_t>& live) const {
  mutex_->AssertHeld();
  switch (file.type) {
    case FileType::kLog:
      return file.number >= log_number_ ||
             (prev_log_number_ != 0 && file.number == prev_log_number_);
    case FileType::kManifest: return file.number >= manifest_number_;
    case FileType::kTable:
      return std::binary_search(live.begin(), live.end(), file.number) ||
             (!jobs_.empty() && file.number >= *jobs_.begin());
    case FileType::kTemp: return writing_;
    case FileType::kCurrent:
    case FileType::kLock:
    case FileType::kInfoLog: return true;
  }
  return true;
}

std::vector<std::string> VersionSet::ObsoleteFiles(const std::vector<std::string>& names) const {
  std::vector<std::string> obsolete;
  if (!may_delete_files()) return obsolete;
  const std::vector<uint64_t> live = LiveTables();
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (ParseFileName(name, &parsed) && !IsNeeded(parsed, live)) obsolete.push_back(name);
  }
  return obsolete;
}

}  // namespace weft::lsm
