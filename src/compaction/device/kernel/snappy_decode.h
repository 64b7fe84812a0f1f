// compaction/device/kernel/snappy_decode.h: opens a block that Snappy has compressed, by one
// thread.
//
// Elements follow each other, and each may copy what the one before has made, so a block is one
// thread's work; there are thousands of blocks in a piece. Blocks that Snappy's library would not
// open are not opened here: their length comes first and must be what their elements make, no more,
// and no element reads before the beginning or behind the end. Of those that the library opens, a
// few that it never makes are left to it: a literal of 4 GiB, say, which it takes for one of none.
//
// Threads   pure; distinct blocks at once.
// Errors    false; no bytes make it read or write outside what it is given.
// Source    the format: github.com/google/snappy, format_description.txt.
#pragma once

#include "base/host_device.h"

namespace weft::compaction::device {

class SnappyDecoder {
 public:
  // To where there is room for `opened_bytes`, which the block must have.
  WEFT_HOST_DEVICE SnappyDecoder(const uint8_t* from, uint32_t bytes, uint8_t* to,
                                 uint32_t opened_bytes)
      : at_(from), end_(from + bytes), begin_(to), to_(to), to_end_(to + opened_bytes) {}

  WEFT_HOST_DEVICE bool Run() {
    if (!SkipLength()) return false;
    while (at_ != end_) {
      const uint32_t tag = *at_++;
      if (!((tag & 3) == 0 ? TakeLiteral(tag) : TakeCopy(tag))) return false;
    }
    return to_ == to_end_;
  }

 private:
  // Is it the one that was told?
  WEFT_HOST_DEVICE bool SkipLength() {
    uint64_t length = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
      if (at_ == end_) return false;
      const uint64_t byte = *at_++;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) return length == static_cast<uint64_t>(to_end_ - begin_);
    }
    return false;
  }

  // The next `bytes` of the input, 1 to 4.
  WEFT_HOST_DEVICE bool TakeNumber(uint32_t bytes, uint32_t* number) {
    if (static_cast<uint64_t>(end_ - at_) < bytes) return false;
    *number = 0;
    for (uint32_t i = 0; i < bytes; i++) *number |= uint32_t{at_[i]} << (8 * i);
    at_ += bytes;
    return true;
  }

  WEFT_HOST_DEVICE bool TakeLiteral(uint32_t tag) {
    constexpr uint32_t kShort = 60;  // from here on the length has bytes of its own
    uint32_t less_one = tag >> 2;
    if (less_one >= kShort && !TakeNumber(less_one - kShort + 1, &less_one)) return false;
    const uint64_t length = uint64_t{less_one} + 1;
    if (length > static_cast<uint64_t>(end_ - at_) || length > static_cast<uint64_t>(to_end_ - to_))
      return false;
    for (uint64_t i = 0; i < length; i++) to_[i] = at_[i];
    at_ += length;
    to_ += length;
    return true;
  }

  WEFT_HOST_DEVICE bool TakeCopy(uint32_t tag) {
    uint32_t length = (tag >> 2) + 1;
    uint32_t offset = 0;
    if ((tag & 3) == 1) {
      length = (tag >> 2 & 7) + 4;
      if (!TakeNumber(1, &offset)) return false;
      offset |= tag >> 5 << 8;
    } else if (!TakeNumber((tag & 3) == 2 ? 2 : 4, &offset)) {
      return false;
    }
    if (offset == 0 || offset > static_cast<uint64_t>(to_ - begin_) ||
        length > static_cast<uint64_t>(to_end_ - to_))
      return false;
    // What is copied may be what this copies.
    const uint8_t* const from = to_ - offset;
    for (uint32_t i = 0; i < length; i++) to_[i] = from[i];
    to_ += length;
    return true;
  }

  const uint8_t* at_;
  const uint8_t* const end_;
  uint8_t* const begin_;
  uint8_t* to_;
  uint8_t* const to_end_;
};

}  // namespace weft::compaction::device
