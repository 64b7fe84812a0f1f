#include "leveldb/dumpfile.h"

#include <memory>

#include "convert.h"
#include "env_files.h"
#include "file_names.h"
#include "leveldb/comparator.h"
#include "lsm/file_names.h"
#include "lsm/log_reader.h"
#include "lsm/version_edit.h"
#include "lsm/write_batch_internal.h"
#include "policies.h"
#include "table/internal_key.h"
#include "table/table.h"
#include "table/table_iterator.h"

namespace weft::compat {

namespace {

using table::ParsedKey;
using table::ValueType;

// Plain characters as they are, others as \xNN.
std::string Escaped(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= ' ' && byte <= '~') {
      text.push_back(c);
    } else {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

std::string Quoted(std::string_view bytes) { return "'" + Escaped(bytes) + "'"; }

// Each item of the file is one Append. What the destination answers is not looked at, as LevelDB
// does not.
class Printer {
 public:
  explicit Printer(leveldb::WritableFile* to) : to_(to) {}
  void Print(std::string_view item) { to_->Append(ToSlice(item)); }

 private:
  leveldb::WritableFile* const to_;
};

class DamagePrinter final : public lsm::LogReader::Reporter {
 public:
  explicit DamagePrinter(Printer* to) : to_(to) {}
  void Dropped(uint64_t, uint64_t bytes, std::string_view reason) override {
    to_->Print("corruption: " + std::to_string(bytes) +
               " bytes; Corruption: " + std::string(reason) + "\n");
  }

 private:
  Printer* const to_;
};

class BatchPrinter final : public WriteBatch::Handler {
 public:
  explicit BatchPrinter(Printer* to) : to_(to) {}
  void Put(std::string_view key, std::string_view value) override {
    to_->Print("  put " + Quoted(key) + " " + Quoted(value) + "\n");
  }
  void Delete(std::string_view key) override { to_->Print("  del " + Quoted(key) + "\n"); }

 private:
  Printer* const to_;
};

void PrintBatch(const std::string& start, std::string_view record, Printer* to) {
  if (record.size() < WriteBatchInternal::kHeaderBytes) {
    to->Print(start + "log record length " + std::to_string(record.size()) + " is too small\n");
    return;
  }
  to->Print(start + "sequence " + std::to_string(WriteBatchInternal::SequenceOf(record)) + "\n");
  BatchPrinter changes(to);
  const leveldb::Status status = ToLevelDb(WriteBatchInternal::Iterate(record, &changes));
  if (!status.ok()) to->Print("  error: " + status.ToString() + "\n");
}

std::string KeyText(const std::string& internal_key) {
  ParsedKey key;
  if (!table::ParseInternalKey(internal_key, &key)) return "(bad)" + Escaped(internal_key);
  return Quoted(key.user_key) + " @ " + std::to_string(key.sequence) + " : " +
         std::to_string(static_cast<int>(key.type));
}

std::string EditText(const lsm::VersionEdit& edit) {
  std::string text = "VersionEdit {";
  const auto number = [&text](const char* name, const auto& field) {
    if (field.has_value()) text += name + std::to_string(*field);
  };
  if (edit.comparator.has_value()) text += "\n  Comparator: " + *edit.comparator;
  number("\n  LogNumber: ", edit.log_number);
  number("\n  PrevLogNumber: ", edit.prev_log_number);
  number("\n  NextFile: ", edit.next_file_number);
  number("\n  LastSeq: ", edit.last_sequence);
  for (const auto& [level, key] : edit.compact_pointers) {
    text += "\n  CompactPointer: " + std::to_string(level) + " " + KeyText(key);
  }
  for (const auto& [level, file] : edit.removed_files) {
    text += "\n  RemoveFile: " + std::to_string(level) + " " + std::to_string(file);
  }
  for (const lsm::NewFile& file : edit.new_files) {
    text += "\n  AddFile: " + std::to_string(file.level) + " " + std::to_string(file.number) + " " +
            std::to_string(file.bytes) + " " + KeyText(file.smallest) + " .. " +
            KeyText(file.largest);
  }
  return text + "\n}\n";
}

void PrintEdit(const std::string& start, std::string_view record, Printer* to) {
  lsm::VersionEdit edit;
  const leveldb::Status status = ToLevelDb(edit.DecodeFrom(record));
  to->Print(start + (status.ok() ? EditText(edit) : status.ToString() + "\n"));
}

leveldb::Status DumpRecords(FileSystem* files, const std::string& path,
                            void (*print)(const std::string&, std::string_view, Printer*),
                            Printer* to) {
  Result<std::unique_ptr<SequentialFile>> file = files->NewSequentialFile(path);
  if (!file) return ToLevelDb(file.error());
  DamagePrinter damage(to);
  lsm::LogReader reader(file->get(), &damage, lsm::LogReader::Mode::kSalvage);
  std::string_view record;
  while (reader.Read(&record)) {
    print("--- offset " + std::to_string(reader.record_offset()) + "; ", record, to);
  }
  return ToLevelDb(reader.status());
}

std::string EntryText(std::string_view internal_key, std::string_view value) {
  ParsedKey key;
  if (!table::ParseInternalKey(internal_key, &key)) {
    return "badkey " + Quoted(internal_key) + " => " + Quoted(value) + "\n";
  }
  return Quoted(key.user_key) + " @ " + std::to_string(key.sequence) +
         (key.type == ValueType::kDeletion ? " : del => " : " : val => ") + Quoted(value) + "\n";
}

leveldb::Status DumpTable(FileSystem* files, const std::string& path, Printer* to) {
  const Result<uint64_t> bytes = files->GetFileSize(path);
  if (!bytes) return ToLevelDb(bytes.error());
  Result<std::unique_ptr<RandomAccessFile>> file = files->NewRandomAccessFile(path);
  if (!file) return ToLevelDb(file.error());
  // Which order the store has is not known, and the index of a table in plain bytewise order is
  // held to that: internal keys are in another.
  const UserComparator order(leveldb::BytewiseComparator());
  table::TableReadOptions how;
  how.order = static_cast<const Comparator*>(&order);
  auto opened = table::Table::Open(how, std::move(*file), bytes.value(), path);
  if (!opened) return ToLevelDb(opened.error());
  const std::unique_ptr<table::TableIterator> it = (*opened)->NewIterator({});
  for (it->SeekToFirst(); it->Valid(); it->Next()) to->Print(EntryText(it->key(), it->value()));
  const leveldb::Status status = ToLevelDb(it->status());
  if (!status.ok()) to->Print("iterator error: " + status.ToString() + "\n");
  return leveldb::Status::OK();
}

}  // namespace

}  // namespace weft::compat

namespace leveldb {

Status DumpFile(Env* env, const std::string& fname, WritableFile* dst) {
  using weft::lsm::FileType;
  weft::lsm::ParsedFileName name;
  if (!weft::lsm::ParseFileName(weft::compat::NameOf(fname), &name)) {
    return Status::InvalidArgument(fname + ": unknown file type");
  }
  weft::compat::EnvFileSystem files(env);
  weft::compat::Printer printer(dst);
  switch (name.type) {
    case FileType::kLog:
      return weft::compat::DumpRecords(&files, fname, &weft::compat::PrintBatch, &printer);
    case FileType::kManifest:
      return weft::compat::DumpRecords(&files, fname, &weft::compat::PrintEdit, &printer);
    case FileType::kTable: return weft::compat::DumpTable(&files, fname, &printer);
    default: return Status::InvalidArgument(fname + ": not a dump-able file type");
  }
}

}  // namespace leveldb
