// bench/drive/hdr_encoding.h: a base::Histogram as HdrHistogram encodes one: its V2 encoding.
//
// Layout    big-endian: cookie u32, bytes of the counts u32, normalizing offset u32 (0),
//           significant digits u32 (3), lowest discernible value u64 (1), highest trackable value
//           u64, ratio of integers to doubles f64 (1); then the counts by index, each a ZigZag
//           LEB128 number of at most 9 bytes, a run of n > 1 zeros as -n. Nothing follows the last
//           count that is not zero.
// Cells     with 3 digits and lowest discernible 1, HdrHistogram has the cells of base::Histogram,
//           in the same order, up to the same value: no count moves.
// Units     the histogram's. Counts are below 2^63.
// Threads   pure.
// Source    HdrHistogram's AbstractHistogram.java (encodeIntoByteBuffer) and
//           ZigZagEncoding.java, by G. Tene.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/histogram.h"

namespace weft::bench {

// With 3 significant digits, 2,048 values have a cell each: that is the power of two not below 2 *
// 10^3. Every further power of two has half as many.
constexpr int kHdrSubBucketBits = 11;

// Where HdrHistogram counts `value`.
constexpr size_t HdrIndex(uint64_t value) {
  constexpr uint64_t kHalf = uint64_t{1} << (kHdrSubBucketBits - 1);
  // Values whose highest bits are missing are in bucket 0.
  const int bucket =
      std::bit_width(value | ((uint64_t{1} << kHdrSubBucketBits) - 1)) - kHdrSubBucketBits;
  const uint64_t sub_bucket = value >> bucket;
  return static_cast<size_t>((static_cast<uint64_t>(bucket) + 1) * kHalf + sub_bucket - kHalf);
}

std::string EncodeHdr(const base::Histogram& histogram);

// Appends the number in HdrHistogram's ZigZag LEB128 form.
void AppendZigZag(int64_t number, std::string* out);
// Appends it big-endian.
void AppendBigEndian(uint32_t number, std::string* out);
void AppendBigEndian(uint64_t number, std::string* out);

}  // namespace weft::bench
