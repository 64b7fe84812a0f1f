// Whole tables in and out: Checkpoint and Ingest.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lsm/db_impl.h"
#include "lsm/file_names.h"
#include "lsm/path_place.h"
#include "lsm/store_copy.h"
#include "table/table_builder.h"
#include "table/table_iterator.h"

namespace weft::lsm {

// A table that TableWriter wrote.
struct ForeignTable {
  std::string path;
  std::unique_ptr<table::Table> table;
  std::string smallest;  // user keys
  std::string largest;
};

namespace {

Status NotIngestible(const std::string& path, const std::string& why) {
  return {Code::kInvalidArgument, path + ": " + why};
}

// Reads all of the table: it must be whole, and every entry a value with sequence number 0.
Status CheckForeign(ForeignTable* foreign) {
  if (Status status = foreign->table->Verify(nullptr); !status.ok()) return status;
  const auto entries = foreign->table->NewIterator({});
  bool first = true;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    table::ParsedKey key;
    if (!table::ParseInternalKey(entries->key(), &key) || key.sequence != 0 ||
        key.type != table::ValueType::kValue) {
      return NotIngestible(foreign->path, "it was not written by TableWriter");
    }
    if (first) foreign->smallest = key.user_key;  // which may be empty
    first = false;
    foreign->largest.assign(key.user_key);
  }
  if (!entries->status().ok()) return entries->status();
  return first ? NotIngestible(foreign->path, "it is empty") : Status();
}

constexpr std::string_view kUnfinished = ".unfinished";
constexpr char kIsOurs[] = "it is in the store's own folder and has the name of a store's file";

bool HasStoreFileName(const std::string& path) {
  ParsedFileName parsed;
  return ParseFileName(std::string_view(path).substr(path.rfind('/') + 1), &parsed);
}

// The store takes it for its own, and removes it where it finds no use for it.
bool IsFileOf(const std::string& dir, const std::string& path) {
  const std::string parent = ParentOf(path);
  return HasStoreFileName(path) && LiesWithin(parent, dir) && LiesWithin(dir, parent);
}

// `dir`: of a checkpoint of the store in `store`, without slashes at its end.
Status CheckTarget(const std::string& dir, const std::string& store) {
  if (dir.empty()) return {Code::kInvalidArgument, "the name of the checkpoint's folder is empty"};
  if (dir.ends_with(kUnfinished)) {
    return {Code::kInvalidArgument, dir + ": a checkpoint must not end in " +
                                        std::string(kUnfinished) +
                                        ": that name marks an interrupted checkpoint"};
  }
  if (LiesWithin(dir, store) || LiesWithin(dir + std::string(kUnfinished), store)) {
    return {Code::kInvalidArgument, dir + ": is inside the store " + store};
  }
  return {};
}

Status SyncContents(FileSystem* files, const std::string& path) {
  auto file = files->NewAppendableFile(path, FileUse::kOther);
  if (!file) return file.error();
  Status status = (*file)->Sync();
  return status.ok() ? (*file)->Close() : status;
}

// Gives the file `path` a second name, `to`, or copies it, so that it survives a power cut. Of a
// linked file only its maker knows whether it was synced. One that may only be read cannot be
// synced by us: it is copied.
Status BringIn(FileSystem* files, const std::string& path, const std::string& to) {
  bool linked = false;
  Status status = LinkOrCopy(files, path, to, &linked);
  if (!status.ok() || !linked || SyncContents(files, to).ok()) return status;
  status = files->RemoveFile(to);
  if (status.ok()) status = CopyFile(files, path, to);
  return status;
}

}  // namespace

Status DbImpl::Checkpoint(const std::string& target) {
  std::string dir = target;
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  // Under another name until it is whole.
  const std::string unfinished = dir + std::string(kUnfinished);
  if (Status status = CheckTarget(dir, dir_); !status.ok()) return status;
  base::MutexLock checkpoint_lock(&checkpoint_mutex_);  // another one may be for the same folder
  if (files_->FileExists(dir)) return {Code::kInvalidArgument, dir + ": exists"};
  if (read_only_ && active_->entries() > 0) {
    return {Code::kInvalidArgument, dir_ + " is open only for reading, and its log holds writes " +
                                        "that are in no table: open it for writing"};
  }
  if (Status status = Flush(); !status.ok()) return status;
  VersionRef version;
  uint64_t next_file;
  table::SequenceNumber last;
  {
    base::MutexLock lock(&mutex_);
    version = versions_->current();  // holds its tables
    next_file = versions_->next_file_number();
    last = visible_.load(std::memory_order_acquire);
  }
  Status status = RemoveUnfinished(unfinished);
  if (!status.ok()) return status;
  status = files_->CreateDir(unfinished);
  for (int level = 0; level < kLevels && status.ok(); level++) {
    for (const FileRef& file : version->level(level).files()) {
      const std::string table = tables_.PathOf(file->number);
      status = LinkOrCopy(files_, table, TableFileName(unfinished, file->number));
      if (status.ok()) continue;
      if (!files_->FileExists(table)) status = tables_.Gone(table);
      break;
    }
  }
  if (status.ok()) status = WriteManifestOf(*version, files_, unfinished, next_file, last);
  if (status.ok()) status = files_->SyncDir(unfinished);
  if (status.ok()) status = files_->RenameFile(unfinished, dir);
  if (status.ok()) return files_->SyncDir(ParentOf(dir));
  (void)RemoveUnfinished(unfinished);
  return status;
}

// What a checkpoint that was cut short has left, if anything; nothing else.
Status DbImpl::RemoveUnfinished(const std::string& dir) {
  std::vector<std::string> names;
  if (Status status = files_->GetChildren(dir, &names); !status.ok()) {
    const bool is_there = status.code() != Code::kNotFound && files_->FileExists(dir);
    return is_there ? status : Status();
  }
  for (const std::string& name : names) {
    ParsedFileName parsed;
    // Any store that was opened has a lock and logs.
    const bool may_be_left = ParseFileName(name, &parsed) && parsed.type != FileType::kLog &&
                             parsed.type != FileType::kLock && parsed.type != FileType::kInfoLog;
    if (!may_be_left) {
      return {Code::kInvalidArgument,
              dir + ": holds " + name + ", which is not from an interrupted checkpoint"};
    }
  }
  for (const std::string& name : names) (void)files_->RemoveFile(dir + "/" + name);
  return files_->RemoveDir(dir);
}

// A table takes effect as if all its keys were written now. One that lies apart from everything in
// the store is taken as it is; others are written anew with a sequence number above all.
Status DbImpl::Ingest(std::span<const std::string> paths, bool move) {
  if (read_only_) return {Code::kInvalidArgument, dir_ + " is open only for reading"};
  std::vector<ForeignTable> tables;
  for (const std::string& path : paths) {
    auto bytes = files_->GetFileSize(path);
    if (!bytes) return bytes.error();
    // Before anything else: already a flush may find that no table needs it.
    if (IsFileOf(dir_, path)) return NotIngestible(path, kIsOurs);
    auto file = files_->NewRandomAccessFile(path);
    if (!file) return file.error();
    table::TableReadOptions read;
    read.order = &comparator_;
    auto table = table::Table::Open(read, std::move(*file), *bytes, path);
    if (!table) return table.error();
    tables.push_back({path, std::move(*table), "", ""});
    if (Status status = CheckForeign(&tables.back()); !status.ok()) return status;
  }
  if (tables.empty()) return {};
  Status status = IngestOpened(tables);
  if (status.ok() && move) {
    for (const std::string& path : paths) (void)files_->RemoveFile(path);
  }
  return status;
}

// noexcept: where no memory is left in the midst, the process ends, as by a background thread that
// finds none. Whoever caught an exception would have a store in which all others wait.
Status DbImpl::IngestOpened(std::span<const ForeignTable> tables) noexcept {
  // Writers wait: what they write comes after, and the memtables are empty.
  base::MutexLock write_lock(&write_mutex_);
  if (Status status = FlushAllLocked(); !status.ok()) return status;
  if (Status status = CheckNumbersLeft(tables.size()); !status.ok()) return status;
  uint64_t job;
  {
    base::MutexLock lock(&mutex_);
    job = versions_->BeginJob();
    ingesting_ = true;
  }
  VersionEdit edit;
  Status status;
  for (const ForeignTable& foreign : tables) {
    assigned_++;  // also for tables taken as they are: one that overlaps it may follow
    if (status.ok())
      status = TakeTable(foreign.path, *foreign.table, foreign.smallest, foreign.largest, assigned_,
                         &edit);
  }
  if (status.ok()) status = files_->SyncDir(dir_);
  base::MutexLock lock(&mutex_);
  if (status.ok()) {
    edit.last_sequence = assigned_;
    PlaceIngestedLocked(&edit);
    placing_deep_ = true;
    status = versions_->LogAndApply(&edit, &mutex_);
    placing_deep_ = false;
  }
  versions_->EndJob(job);
  // The numbers are used, whatever became of the tables. Before the view: who finds the tables that
  // were taken as they are must see those that were written anew.
  ShowUpTo(assigned_);
  if (status.ok()) {
    // It is empty. Another one takes what follows, or a reader that holds the view of before could
    // see later writes without the tables.
    active_ = std::make_shared<MemTable>(comparator_, memtable_blocks_);
    active_bytes_ = 0;
    InstallViewLocked();
  }
  ingesting_ = false;
  room_.NotifyAll();
  RemoveObsoleteFilesLocked();
  compact_work_.NotifyAll();
  return status;
}

// Everything written so far is in tables after it.
Status DbImpl::FlushAllLocked() {
  if (active_->entries() > 0 || assigned_ > visible_.load(std::memory_order_acquire)) {
    if (Status status = MakeRoom(true); !status.ok()) return status;
  }
  base::MutexLock lock(&mutex_);
  while (background_error_.ok() && !immutables_.empty()) room_.Wait(&mutex_);
  return background_error_;
}

// Brings one table into the folder and adds it to *edit, at no level yet.
Status DbImpl::TakeTable(const std::string& path, const table::Table& source,
                         const std::string& smallest, const std::string& largest,
                         table::SequenceNumber sequence, VersionEdit* edit) {
  NewFile table;
  table.number = versions_->NewFileNumber();
  table.bytes = source.file_bytes();
  bool apart;
  {
    base::MutexLock lock(&mutex_);
    // A snapshot must not see it, so its entries need numbers above the snapshot's.
    apart = snapshots_.empty() && LiesApart(*versions_->current(), *edit, smallest, largest);
  }
  const table::SequenceNumber number = apart ? 0 : sequence;
  table.smallest = table::MakeInternalKey(smallest, number, table::ValueType::kValue);
  table.largest = table::MakeInternalKey(largest, number, table::ValueType::kValue);
  const std::string to = TableFileName(dir_, table.number);
  // The store's folder may have another name yet, as where it is mounted twice.
  const std::string twin = ParentOf(path) + to.substr(dir_.size());
  const bool is_other_folder = files_->FileExists(twin);
  Status status = apart ? BringIn(files_, path, to) : WriteAnew(source, to, sequence, &table.bytes);
  if (status.ok() && !is_other_folder && files_->FileExists(twin) && HasStoreFileName(path)) {
    status = NotIngestible(path, kIsOurs);
  }
  if (status.ok()) edit->new_files.push_back(std::move(table));
  return status;
}

bool DbImpl::LiesApart(const Version& version, const VersionEdit& edit, const std::string& smallest,
                       const std::string& largest) const {
  const std::string_view begin = smallest;
  const std::string_view end = largest;
  const UserKeyRange range{&begin, &end};
  for (int level = 0; level < kLevels; level++) {
    if (version.OverlapInLevel(level, range)) return false;
  }
  return std::ranges::none_of(edit.new_files, [&](const NewFile& other) {
    return comparator_.CompareUser(table::UserKey(other.smallest), largest) <= 0 &&
           comparator_.CompareUser(smallest, table::UserKey(other.largest)) <= 0;
  });
}

Status DbImpl::WriteAnew(const table::Table& source, const std::string& to,
                         table::SequenceNumber sequence, uint64_t* bytes) {
  auto file = files_->NewWritableFile(to, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format_, file->get());
  const auto entries = source.NewIterator({});
  std::string key;
  for (entries->SeekToFirst(); entries->Valid() && builder.status().ok(); entries->Next()) {
    key.clear();
    table::AppendInternalKey(&key, table::UserKey(entries->key()), sequence,
                             table::ValueType::kValue);
    builder.Add(key, entries->value());
  }
  Status status = entries->status();
  if (status.ok()) {
    status = builder.Finish();
  } else {
    builder.Abandon();
  }
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  *bytes = builder.flushed_bytes();
  return status;
}

// As deep as each may go: tables that overlap others of the edit, all to level 0.
void DbImpl::PlaceIngestedLocked(VersionEdit* edit) {
  for (NewFile& table : edit->new_files) {
    const std::string_view smallest = table::UserKey(table.smallest);
    const std::string_view largest = table::UserKey(table.largest);
    const bool alone = std::ranges::none_of(edit->new_files, [&](const NewFile& other) {
      return &other != &table &&
             comparator_.CompareUser(table::UserKey(other.smallest), largest) <= 0 &&
             comparator_.CompareUser(smallest, table::UserKey(other.largest)) <= 0;
    });
    table.level = alone ? picker_->LevelForMemTable(*versions_->current(), smallest, largest) : 0;
  }
}

}  // namespace weft::lsm
