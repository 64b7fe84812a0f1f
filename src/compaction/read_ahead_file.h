// compaction/read_ahead_file.h: reads a file that is not in memory in large pieces, in order.
//
// The bytes it returns lie in a window that moves with the next Read outside it. It is for one
// reader that is done with each block before it asks for the next, not for sharing. If the file
// wants its reads aligned (ReadAlignment), windows are aligned, so that they are not copied. They
// are also larger, because nobody reads ahead of them.
//
// Threads   one thread at a time.
// Errors    those of the file.
// Memory    kWindowBytes, or kDirectWindowBytes; the largest read if that is more.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "table/output_buffer.h"
#include "weft/file_system.h"

namespace weft::compaction {

class ReadAheadFile final : public RandomAccessFile {
 public:
  static constexpr size_t kWindowBytes = 256u << 10;
  static constexpr size_t kDirectWindowBytes = 1u << 20;

  // `bytes`: the file's size, as far as it is known. A window ends there: a file may return an
  // error to a read beyond it.
  explicit ReadAheadFile(std::unique_ptr<RandomAccessFile> file, uint64_t bytes = UINT64_MAX)
      : file_(std::move(file)), bytes_(bytes) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override;
  void WillNeed(uint64_t offset, size_t bytes) const override { file_->WillNeed(offset, bytes); }
  void ReadsInOrder() const override { file_->ReadsInOrder(); }

 private:
  Status ReadWindow(uint64_t offset, size_t bytes) const;

  const std::unique_ptr<RandomAccessFile> file_;
  const uint64_t bytes_;
  // Mutable: Read is const for the many readers that other files allow.
  mutable uint64_t window_start_ = 0;
  mutable std::string_view window_;
  mutable table::OutputBuffer room_;
};

}  // namespace weft::compaction
