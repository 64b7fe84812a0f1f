#include "tool/db/dump_file.h"

#include <functional>
#include <memory>

#include "base/coding.h"
#include "lsm/file_names.h"
#include "lsm/log_reader.h"
#include "lsm/manifest.h"
#include "lsm/version_edit.h"
#include "lsm/write_batch_internal.h"
#include "table/block.h"
#include "table/internal_key.h"
#include "table/table_file.h"

namespace weft::tool {

namespace {

// "'key' @ 12 : value", and => 'value' where it is wanted.
class EntryPrinter {
 public:
  EntryPrinter(std::ostream& out, const DumpStyle& style)
      : out_(out), style_(style), left_(style.entries_max) {}

  // False once enough were printed.
  bool Print(std::string_view user_key, uint64_t sequence, bool deletion, std::string_view value) {
    if (left_ == 0) return false;
    left_--;
    out_ << "  '" << Escaped(user_key) << "' @ " << sequence
         << (deletion ? " : deletion" : " : value");
    if (!deletion && !style_.keys_only) out_ << " => '" << ToText(value, style_.values) << '\'';
    out_ << '\n';
    return true;
  }

 private:
  std::ostream& out_;
  const DumpStyle& style_;
  uint64_t left_;
};

class BatchPrinter final : public WriteBatch::Handler {
 public:
  BatchPrinter(EntryPrinter* printer, uint64_t sequence) : printer_(printer), sequence_(sequence) {}
  void Put(std::string_view key, std::string_view value) override {
    printer_->Print(key, sequence_++, false, value);
  }
  void Delete(std::string_view key) override { printer_->Print(key, sequence_++, true, {}); }

 private:
  EntryPrinter* const printer_;
  uint64_t sequence_;
};

class DamagePrinter final : public lsm::LogReader::Reporter {
 public:
  explicit DamagePrinter(std::ostream& out) : out_(out) {}
  void Dropped(uint64_t offset, uint64_t bytes, std::string_view reason) override {
    out_ << "at " << offset << ": " << bytes << " bytes that are not a record: " << reason << '\n';
  }
  void Mended(uint64_t offset) override {
    out_ << "at " << offset << ": a wrong header; the checksum fits a different one\n";
    mended_ = true;
  }
  bool mended() const { return mended_; }

 private:
  std::ostream& out_;
  bool mended_ = false;
};

Status CheckManifest(const Console& console, const std::string& path) {
  auto file = console.files->NewSequentialFile(path);
  if (!file) return file.error();
  auto state = lsm::ReadManifest(file->get(), path);
  return state ? Status() : state.error();
}

// Calls `print` for each record; false from it means that the record is damaged.
Exit DumpRecords(const Console& console, const std::string& path, bool are_batches,
                 const std::function<bool(uint64_t offset, std::string_view record)>& print) {
  auto file = console.files->NewSequentialFile(path);
  if (!file) return Fail(console, file.error());
  DamagePrinter damage(console.out);
  lsm::LogReader reader(file->get(), &damage, lsm::LogReader::Mode::kSalvage);
  if (are_batches) reader.Expect(lsm::RecordKind::kBatch, console.files, path);
  std::string_view record;
  bool whole = true;
  while (reader.Read(&record)) whole &= print(reader.record_offset(), record);
  if (reader.end() == lsm::LogEnd::kReadError) return Fail(console, reader.status());
  // A log's torn end may be what a crash left. A manifest's is judged as by whoever opens the
  // store.
  if (!are_batches) {
    if (Status status = CheckManifest(console, path); !status.ok()) return Fail(console, status);
  } else if (reader.end() == lsm::LogEnd::kDamaged) {
    return Exit::kDamaged;
  }
  if (reader.end() != lsm::LogEnd::kClean) console.out << "the end is torn, as after a crash\n";
  return whole && !damage.mended() ? Exit::kOk : Exit::kDamaged;
}

Exit DumpLog(const Console& console, const std::string& path, const DumpStyle& style) {
  EntryPrinter printer(console.out, style);
  return DumpRecords(console, path, true, [&](uint64_t offset, std::string_view record) {
    if (record.size() < WriteBatchInternal::kHeaderBytes) {
      console.out << "at " << offset << ": a record that is too short for a batch\n";
      return false;
    }
    const uint64_t sequence = WriteBatchInternal::SequenceOf(record);
    console.out << "at " << offset << ": batch of " << WriteBatchInternal::CountOf(record)
                << " from sequence " << sequence << ", " << record.size() << " bytes\n";
    BatchPrinter changes(&printer, sequence);
    const Status status = WriteBatchInternal::Iterate(record, &changes);
    if (!status.ok()) console.out << "  " << status.ToString() << '\n';
    return status.ok();
  });
}

Exit DumpManifest(const Console& console, const std::string& path) {
  return DumpRecords(console, path, false, [&](uint64_t offset, std::string_view record) {
    lsm::VersionEdit edit;
    const Status status = edit.DecodeFrom(record);
    console.out << "at " << offset << ": edit of " << record.size() << " bytes\n";
    if (!status.ok()) {
      console.out << "  " << status.ToString() << '\n';
      return false;
    }
    const std::string lines = edit.DebugString();
    std::string_view text = lines;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      console.out << "  " << text.substr(0, end) << '\n';
      text.remove_prefix(end + 1);
    }
    return true;
  });
}

class TableDumper {
 public:
  TableDumper(const Console& console, const table::TableFile& table, const DumpStyle& style)
      : console_(console), table_(table), style_(style), printer_(console.out, style) {}

  Exit Run() {
    const table::Footer& footer = table_.footer();
    console_.out << "table of " << table_.bytes() << " bytes\n";
    PrintMeta(footer.metaindex);
    auto blocks = table_.ReadHandles(footer.index);
    if (!blocks) return Fail(console_, blocks.error());
    console_.out << "index at " << footer.index.offset << ": " << footer.index.bytes
                 << " bytes, names " << blocks->size() << " data blocks\n";
    for (const auto& [separator, handle] : *blocks) {
      auto block = table_.Read(handle);
      if (!block) {
        exit_ = Fail(console_, block.error());
      } else if (!PrintBlock(separator, handle, *block)) {
        break;
      }
    }
    return exit_;
  }

 private:
  void PrintMeta(const table::BlockHandle& handle) {
    auto meta = table_.ReadHandles(handle);
    if (!meta) {
      exit_ = Fail(console_, meta.error());
      return;
    }
    for (const auto& [name, where] : *meta) {
      console_.out << Escaped(name) << " at " << where.offset << ": " << where.bytes << " bytes\n";
      if (auto block = table_.Read(where); !block) exit_ = Fail(console_, block.error());
    }
  }

  static std::string KeyText(std::string_view internal_key) {
    if (internal_key.size() < table::kTrailerBytes) return Escaped(internal_key);
    return Escaped(table::UserKey(internal_key));
  }

  // False once enough entries were printed.
  bool PrintBlock(const std::string& separator, const table::BlockHandle& handle,
                  const table::TableFile::Block& block) {
    const std::string_view data = block.contents.data;
    table::BlockIterator entries(BytewiseComparator(), data);
    uint64_t count = 0;
    for (entries.SeekToFirst(); entries.Valid(); entries.Next()) count++;
    const uint64_t restarts =
        data.size() < 4 ? 0 : base::DecodeFixed32(data.data() + data.size() - 4);
    console_.out << "block at " << handle.offset << ": " << handle.bytes << " bytes, "
                 << table::CompressionName(block.compression) << ", " << data.size()
                 << " unpacked, " << count << " entries, " << restarts << " restart points, up to '"
                 << KeyText(separator) << "'\n";
    if (entries.damaged()) {
      exit_ = Exit::kDamaged;
      console_.out << "  the block is damaged after the last entry shown\n";
    }
    if (style_.layout_only) return true;
    for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
      if (!PrintEntry(entries.key(), entries.value())) return false;
    }
    return true;
  }

  bool PrintEntry(std::string_view key, std::string_view value) {
    table::ParsedKey parsed;
    if (table::ParseInternalKey(key, &parsed)) {
      return printer_.Print(parsed.user_key, parsed.sequence,
                            parsed.type == table::ValueType::kDeletion, value);
    }
    exit_ = Exit::kDamaged;
    console_.out << "  '" << Escaped(key) << "' is not a key of a store\n";
    return true;
  }

  const Console& console_;
  const table::TableFile& table_;
  const DumpStyle& style_;
  EntryPrinter printer_;
  Exit exit_ = Exit::kOk;
};

}  // namespace

Exit DumpFile(const Console& console, const std::string& path, const DumpStyle& style) {
  lsm::ParsedFileName parsed;
  const bool known = lsm::ParseFileName(path.substr(path.rfind('/') + 1), &parsed);
  if (known && parsed.type == lsm::FileType::kLog) return DumpLog(console, path, style);
  if (known && parsed.type == lsm::FileType::kManifest) return DumpManifest(console, path);
  if (known && parsed.type == lsm::FileType::kTable) {
    auto table = table::TableFile::Open(console.files, path);
    if (!table) return Fail(console, table.error());
    return TableDumper(console, **table, style).Run();
  }
  return Fail(console, {Code::kInvalidArgument,
                        path + ": its name is not that of a log, table or manifest of a store"});
}

}  // namespace weft::tool
