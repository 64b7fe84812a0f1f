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
  Result<char*> Extend(uint64_t bytes) override {
    before_write_(bytes);
    return file_->Extend(bytes);
  }
  Result<DirectPlace> DirectEnd() override { return file_->DirectEnd(); }
  // After the write: the next one waits for it.
  void AppendedDirect(uint64_t bytes) override {
    before_write_(bytes);
    file_->AppendedDirect(bytes);
  }
  Status Flush() override { return file_->Flush(); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override { return file_->Close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
  const std::function<void(uint64_t)>& before_write_;
};

}  // namespace

Result<size_t> OutputFiles::Begin(std::string_view smallest) {
  const JobHost::NewFile place = host_.new_output();
  Result<std::unique_ptr<WritableFile>> file =
      job_.files->NewWritableFile(place.path, FileUse::kTable);
  base::MutexLock lock(&mutex_);
  // Even where it failed a file may have been made: RemoveAll shall know of it.
  Output& output = outputs_.emplace_back();
  output.table.number = place.number;
  output.table.path = place.path;
  output.table.smallest = smallest;
  if (!file) return file.error();
  output.file = std::move(*file);
  if (host_.before_write != nullptr) {
    output.file = std::make_unique<PacedFile>(std::move(output.file), host_.before_write);
  }
  return outputs_.size() - 1;
}

Status OutputFiles::End(size_t table, Status written, std::string_view largest, uint64_t entries,
                        uint64_t bytes) {
  Output& output = Find(table);
  output.table.largest = largest;
  output.table.entries = entries;
  output.table.bytes = bytes;
  bytes_written_ += bytes;
  Status status = std::move(written);
  if (status.ok()) status = output.file->Sync();
  Status closed = output.file->Close();
  output.file.reset();
  if (status.ok()) status = std::move(closed);
  if (status.ok() && job_.verify_outputs) status = Verify(output.table);
  return status;
}

Status OutputFiles::Verify(const OutputTable& table) {
  const uint64_t start_ns = base::NowNs();
  Status status = VerifyTable(job_, table);
  verify_us_ += (base::NowNs() - start_ns) / 1000;
  return status;
}

void OutputFiles::RemoveAll() {
  base::MutexLock lock(&mutex_);
  for (Output& output : outputs_) {
    if (output.file == nullptr) continue;
    (void)output.file->Close();  // the file goes
    output.file.reset();
  }
  // A file that cannot be removed is in no manifest: the store's next clean-up finds it.
  for (const Output& output : outputs_) (void)job_.files->RemoveFile(output.table.path);
  outputs_.clear();
}

std::vector<OutputTable> OutputFiles::TakeTables() {
  base::MutexLock lock(&mutex_);
  std::vector<OutputTable> tables;
  for (Output& output : outputs_) tables.push_back(std::move(output.table));
  outputs_.clear();
  return tables;
}

}  // namespace weft::compaction
