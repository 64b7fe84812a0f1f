#include "compaction/output_files.h"

#include "base/clock.h"

namespace weft::compaction {

namespace {

// Asks the host before every write.
class PacedFile final : public WritableFile {
 public:
  PacedFile(std::unique_ptr<WritableFile> file, const std::function<void(uint64_t)>& before_write)
      : file_(std::move(file)), before_write_(before_write) {}

  Status Append(std::string_view data) override {
    before_write_(data.size());
    return file_->Append(data);
  }
  Status Flush() override { return file_->Flush(); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override { return file_->Close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
  const std::function<void(uint64_t)>& before_write_;
};

}  // namespace

Status OutputFiles::Begin(std::string_view smallest) {
  const JobHost::NewFile place = host_.new_output();
  Result<std::unique_ptr<WritableFile>> file =
      job_.files->NewWritableFile(place.path, FileUse::kTable);
  // Even where it failed a file may have been made: RemoveAll shall know of it.
  OutputTable& output = tables_.emplace_back();
  output.number = place.number;
  output.path = place.path;
  output.smallest = smallest;
  if (!file) return file.error();
  file_ = std::move(*file);
  if (host_.before_write != nullptr) {
    file_ = std::make_unique<PacedFile>(std::move(file_), host_.before_write);
  }
  return Status::Ok();
}

Status OutputFiles::End(Status written, std::string_view largest, uint64_t entries,
                        uint64_t bytes) {
  OutputTable& output = tables_.back();
  output.largest = largest;
  output.entries = entries;
  output.bytes = bytes;
  bytes_written_ += bytes;
  Status status = std::move(written);
  if (status.ok()) status = file_->Sync();
  Status closed = file_->Close();
  file_.reset();
  if (status.ok()) status = std::move(closed);
  if (status.ok() && job_.verify_outputs) status = Verify();
  return status;
}

Status OutputFiles::Verify() {
  const uint64_t start_ns = base::NowNs();
  Status status = VerifyTable(job_, tables_.back());
  verify_us_ += (base::NowNs() - start_ns) / 1000;
  return status;
}

void OutputFiles::RemoveAll() {
  if (file_ != nullptr) {
    (void)file_->Close();  // the file goes
    file_.reset();
  }
  // A file that cannot be removed is in no manifest: the store's next clean-up finds it.
  for (const OutputTable& output : tables_) (void)job_.files->RemoveFile(output.path);
  tables_.clear();
}

}  // namespace weft::compaction
