#include "lsm/torn_batch.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/read_on.h"
#include "lsm/log_format.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

// Of a run of bytes, what a log that is mapped makes visible last (base/posix_log.h): a header, and
// a byte of what follows it.
constexpr size_t kHiddenBytes = kLogHeaderBytes + 1;

// Follows a batch that comes in pieces, as far as it goes.
class BatchPrefix {
 public:
  explicit BatchPrefix(table::SequenceNumber before) : before_(before) {}

  // False once what was fed cannot be the beginning of a batch that follows.
  bool Feed(std::string_view bytes) {
    while (good_ && !bytes.empty()) {
      if (state_ == State::kText) {
        const size_t taken = std::min<uint64_t>(text_left_, bytes.size());
        bytes.remove_prefix(taken);
        text_left_ -= taken;
        if (text_left_ == 0) EndText();
      } else {
        FeedByte(bytes.front());
        bytes.remove_prefix(1);
      }
    }
    return good_;
  }
  // The same where one byte is unknown that stands before `bytes`.
  bool FeedBehindUnknown(std::string_view bytes) {
    for (int byte = 0; byte < 256; byte++) {
      BatchPrefix with = *this;
      const char unknown = static_cast<char>(byte);
      if (with.Feed({&unknown, 1}) && with.Feed(bytes)) return true;
    }
    return false;
  }

 private:
  enum class State : uint8_t { kHead, kType, kLength, kText };
  static constexpr int kLengthBitsMax = 28;

  void FeedByte(char byte) {
    switch (state_) {
      case State::kHead:
        head_[head_bytes_++] = byte;
        if (head_bytes_ == sizeof head_) EndHead();
        return;
      case State::kType:
        is_value_ = byte == static_cast<char>(table::ValueType::kValue);
        good_ = changes_left_ > 0 &&
                (is_value_ || byte == static_cast<char>(table::ValueType::kDeletion));
        in_key_ = true;
        BeginLength();
        return;
      case State::kLength:
        text_left_ |= static_cast<uint64_t>(byte & 0x7f) << length_bits_;
        if ((byte & 0x80) == 0) {
          state_ = State::kText;
          if (text_left_ == 0) EndText();
        } else {
          good_ = length_bits_ < kLengthBitsMax;
          length_bits_ += 7;
        }
        return;
      case State::kText: return;
    }
  }
  void EndHead() {
    const table::SequenceNumber first = base::DecodeFixed64(head_);
    changes_left_ = base::DecodeFixed32(head_ + sizeof first);
    good_ = first > before_ && first <= table::kSequenceMax - changes_left_;
    state_ = State::kType;
  }
  void BeginLength() {
    state_ = State::kLength;
    length_bits_ = 0;
    text_left_ = 0;
  }
  void EndText() {
    if (in_key_ && is_value_) {
      in_key_ = false;
      BeginLength();
      return;
    }
    changes_left_--;
    state_ = State::kType;
  }

  const table::SequenceNumber before_;
  State state_ = State::kHead;
  char head_[WriteBatchInternal::kHeaderBytes];
  size_t head_bytes_ = 0;
  uint32_t changes_left_ = 0;
  bool is_value_ = false;
  bool in_key_ = false;
  int length_bits_ = 0;
  uint64_t text_left_ = 0;
  bool good_ = true;
};

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
      if (type == FragmentType::kZero || type > FragmentType::kLast || begins != first) {
        return false;
      }
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
