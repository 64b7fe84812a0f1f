// lsm/batch_prefix.h: follows a write batch that comes in pieces, as far as it goes.
//
// What stands at a log's end may be the beginning of one. Nothing else tells it from bytes that are
// wrong: values may hold anything, also whole records.
//
// Threads   one at a time.
// Layout    docs/formats/write-batch.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/coding.h"
#include "lsm/write_batch_internal.h"
#include "table/internal_key.h"

namespace weft::lsm {

class BatchPrefix {
 public:
  // `before`: the sequence number of the write before it.
  explicit BatchPrefix(table::SequenceNumber before) : before_(before) {}

  // False once what was fed cannot be the beginning of a batch that follows `before`.
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
  // Every change is there, so that one more byte is one too many.
  bool IsWhole() const { return good_ && state_ == State::kType && changes_left_ == 0; }
  // So many of the next bytes belong to a key or a value: any will do.
  uint64_t AnyBytesNext() const { return state_ == State::kText ? text_left_ : 0; }
  // The same as Feed where one byte is unknown that stands before `bytes`.
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

  table::SequenceNumber before_;
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

}  // namespace weft::lsm
