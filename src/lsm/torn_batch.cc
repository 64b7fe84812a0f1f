#include "lsm/torn_batch.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/crc32c.h"
#include "base/read_on.h"
#include "lsm/batch_prefix.h"
#include "lsm/log_format.h"
#include "lsm/lost_sectors.h"

namespace weft::lsm {

namespace {

std::string_view WithoutZeros(std::string_view bytes) {
  return bytes.substr(0, bytes.find_last_not_of('\0') + 1);
}

// The file's blocks, one after another.
class Blocks {
 public:
  explicit Blocks(SequentialFile* file)
      : file_(file), buffer_(std::make_unique_for_overwrite<char[]>(kLogBlockBytes)) {}

  // Empty behind the last.
  Result<std::string_view> Next() {
    std::string_view block;
    Status status = base::ReadOn(file_, kLogBlockBytes, &block, buffer_.get());
    if (!status.ok()) return status;
    return block;
  }
  Result<bool> OnlyZerosFollow() {
    for (;;) {
      Result<std::string_view> block = Next();
      if (!block) return block.error();
      if (block->empty()) return true;
      if (!WithoutZeros(*block).empty()) return false;
    }
  }

 private:
  SequentialFile* const file_;
  const std::unique_ptr<char[]> buffer_;
};

}  // namespace

Result<bool> IsTornBatch(SequentialFile* file, uint64_t from, table::SequenceNumber before) {
  if (Status status = file->Skip(from / kLogBlockBytes * kLogBlockBytes); !status.ok()) {
    return status;
  }
  Blocks blocks(file);
  BatchPrefix batch(before);
  bool first = true;
  for (size_t at = from % kLogBlockBytes;; at = 0) {
    Result<std::string_view> read = blocks.Next();
    if (!read) return read.error();
    if (at >= read->size()) return true;
    std::string_view block = read->substr(at);
    const bool is_last = read->size() < kLogBlockBytes;
    while (block.size() >= kLogHeaderBytes) {
      if (WithoutZeros(block).empty()) return blocks.OnlyZerosFollow();
      if (WithoutZeros(block.substr(0, kHiddenBytes)).empty()) {
        // Its writer ended within this run, and so wrote no other.
        if (!batch.FeedBehindUnknown(WithoutZeros(block.substr(kHiddenBytes)))) return false;
        return blocks.OnlyZerosFollow();
      }
      const auto type = static_cast<FragmentType>(block[6]);
      const bool begins = type == FragmentType::kFull || type == FragmentType::kFirst;
      const bool ends = type == FragmentType::kFull || type == FragmentType::kLast;
      if (type == FragmentType::kZero || type > FragmentType::kLast) return false;
      if (!begins && first) return false;
      if (begins) batch = BatchPrefix(before);  // perhaps behind one that its writer gave up
      const size_t bytes = static_cast<uint8_t>(block[4]) | static_cast<uint8_t>(block[5]) << 8;
      const std::string_view payload = block.substr(kLogHeaderBytes, bytes);
      if (payload.size() < bytes) {  // the file ends in it, or a length is wrong
        return is_last && at + kLogHeaderBytes + bytes <= kLogBlockBytes && batch.Feed(payload);
      }
      const uint32_t crc = base::Crc32c(block.substr(6, 1 + bytes));
      if (base::MaskCrc32c(crc) != base::DecodeFixed32(block.data())) {
        const bool is_end = WithoutZeros(block.substr(kLogHeaderBytes + bytes)).empty();
        if (!is_end || !batch.Feed(WithoutZeros(payload))) return false;
        return blocks.OnlyZerosFollow();
      }
      if (!batch.Feed(payload) || ends) return false;
      first = false;
      at += kLogHeaderBytes + bytes;
      block.remove_prefix(kLogHeaderBytes + bytes);
    }
    if (is_last) return true;
  }
}

}  // namespace weft::lsm
