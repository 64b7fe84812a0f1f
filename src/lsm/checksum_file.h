// lsm/checksum_file.h: files that keep the checksum of what passes through them.
//
// Threads   as the files behind them.
// Cost      a checksum of each byte; the reader's, of those that are asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "weft/file_system.h"

namespace weft::lsm {

// The CRC-32C of all that was appended, and of what was there before.
class ChecksummedFile final : public WritableFile {
 public:
  explicit ChecksummedFile(std::unique_ptr<WritableFile> file, uint32_t crc = 0)
      : file_(std::move(file)), crc_(crc) {}

  Status Append(std::string_view data) override {
    crc_ = base::ExtendCrc32c(crc_, data.data(), data.size());
    return file_->Append(data);
  }
  Status Flush() override { return file_->Flush(); }
  Status Sync() override { return file_->Sync(); }
  Status SyncFlushed() override { return file_->SyncFlushed(); }
  Status Close() override { return file_->Close(); }
  uint32_t crc() const { return crc_; }

 private:
  const std::unique_ptr<WritableFile> file_;
  uint32_t crc_;
};

// The CRC-32C of a file up to places that rise, each in what was read so far. Keeps a copy of what
// is behind the last place.
class ChecksummedReader final : public SequentialFile {
 public:
  explicit ChecksummedReader(SequentialFile* file) : file_(file) {}

  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    Status status = file_->Read(bytes, result, scratch);
    if (!status.ok()) return status;
    behind_.erase(0, begin_);
    begin_ = 0;
    behind_.append(*result);
    return status;
  }
  Status Skip(uint64_t bytes) override {
    (void)bytes;
    return Status(Code::kUnsupported, "all of it counts");
  }
  // REQUIRES: not below the last place asked for, and no further than what was read.
  uint32_t CrcUpTo(uint64_t offset) {
    const auto bytes = static_cast<size_t>(offset - place_);
    WEFT_DCHECK(begin_ + bytes <= behind_.size());
    crc_ = base::ExtendCrc32c(crc_, behind_.data() + begin_, bytes);
    begin_ += bytes;
    place_ = offset;
    return crc_;
  }

 private:
  SequentialFile* const file_;
  std::string behind_;  // from begin_ on: what is behind the place
  size_t begin_ = 0;
  uint64_t place_ = 0;  // in the file
  uint32_t crc_ = 0;    // up to there
};

}  // namespace weft::lsm
