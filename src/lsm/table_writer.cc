// weft::TableWriter: a store's table made outside of any store, for Db::Ingest.
//
// Its entries have sequence number 0, below all of a store's own: Ingest gives them others where it
// must.
#include <string>
#include <utility>

#include "lsm/checked_options.h"
#include "lsm/limits.h"
#include "table/internal_key.h"
#include "table/table_builder.h"
#include "weft/db.h"

namespace weft {

namespace lsm {

namespace {

class StoreTableWriter final : public TableWriter {
 public:
  StoreTableWriter(const DbOptions& options, std::string path)
      : files_(options.file_system),
        path_(std::move(path)),
        comparator_(options.comparator),
        user_filter_(options.filter_policy),
        filter_(options.filter_policy),
        builder_(FormatOf(options), nullptr) {}

  ~StoreTableWriter() override {
    if (file_ == nullptr) return;  // never opened, or finished
    builder_.Abandon();
    file_.reset();
    (void)files_->RemoveFile(path_);
  }

  // Never writes into a file that is there: it may be the second name of a table that was ingested.
  Status Open() {
    if (files_->FileExists(path_)) {
      if (Status status = files_->RemoveFile(path_); !status.ok()) return status;
    }
    auto file = files_->NewWritableFile(path_, FileUse::kTable);
    if (!file) return file.error();
    file_ = std::move(*file);
    builder_.Start(file_.get());
    return {};
  }

  Status Put(std::string_view key, std::string_view value) override {
    if (finished_) return {Code::kInvalidArgument, path_ + ": it is already finished"};
    if (builder_.entries() > 0 && comparator_.CompareUser(last_key_, key) >= 0) {
      return {Code::kInvalidArgument,
              path_ + ": keys must be in ascending order without duplicates"};
    }
    if (key.size() + value.size() > kChangesBytesMax) {
      return {Code::kInvalidArgument, path_ + ": an entry must be smaller than 4 GiB - 64 MiB"};
    }
    last_key_.assign(key);
    internal_key_.clear();
    table::AppendInternalKey(&internal_key_, key, 0, table::ValueType::kValue);
    builder_.Add(internal_key_, value);
    return builder_.status();
  }

  Status Finish() override {
    if (finished_) return {Code::kInvalidArgument, path_ + ": it is already finished"};
    if (builder_.entries() == 0) return {Code::kInvalidArgument, path_ + ": it has no entries"};
    finished_ = true;  // also where it fails: what is in the file cannot be gone on with
    Status status = builder_.Finish();
    if (status.ok()) status = file_->Sync();
    if (status.ok()) status = file_->Close();
    if (status.ok()) file_.reset();
    return status;
  }

 private:
  table::TableFormat FormatOf(const DbOptions& options) const {
    table::TableFormat format;
    format.comparator = &comparator_;
    format.filter = user_filter_ == nullptr ? nullptr : &filter_;
    format.block_size = options.block_size;
    format.block_restart_interval = options.block_restart_interval;
    format.compression = options.compression;
    format.zstd_level = options.zstd_compression_level;
    return format;
  }

  FileSystem* const files_;
  const std::string path_;
  const table::InternalComparator comparator_;
  const std::shared_ptr<const FilterPolicy> user_filter_;
  const table::InternalFilterPolicy filter_;
  table::TableBuilder builder_;
  std::unique_ptr<WritableFile> file_;  // null: not opened, or whole and closed
  bool finished_ = false;
  std::string last_key_;
  std::string internal_key_;
};

}  // namespace

}  // namespace lsm

Result<std::unique_ptr<TableWriter>> TableWriter::Open(const DbOptions& options,
                                                       const std::string& path) {
  Result<DbOptions> checked = lsm::CheckedOptions(options);
  if (!checked) return checked.error();
  auto writer = std::make_unique<lsm::StoreTableWriter>(*checked, path);
  if (Status status = writer->Open(); !status.ok()) return status;
  return std::unique_ptr<TableWriter>(std::move(writer));
}

}  // namespace weft
