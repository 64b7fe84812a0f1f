#include "compaction/device/device_executor.h"

#include <algorithm>
#include <cstdint>

namespace weft::compaction::device {

namespace {

// With kPieceBytesMax and kKeyRoomBytesMax all that a piece has, and what is carried over to it,
// stays below 4 GiB: offsets and sums in blocks have 32 bits.
constexpr uint64_t kBlockBytesMax = 256u << 20;
constexpr uint32_t kBitsPerKeyMax = 1u << 16;

constexpr uint64_t kPiecesMin = 4;
// Of less the launches and waits of a piece, some tenths of a millisecond, take longer than its
// bytes.
constexpr uint64_t kPieceBytesMin = 8u << 20;

}  // namespace

uint64_t PieceBytesOf(const Job& job, uint64_t most) {
  uint64_t bytes = 0;
  for (const auto& run : job.runs) {
    for (const JobTable& table : run) bytes += table.bytes;
  }
  return std::min(most, std::max(bytes / kPiecesMin, kPieceBytesMin));
}

Status CanDo(const Job& job) {
  if (!job.comparator->is_bytewise()) {
    return {Code::kUnsupported, "a device can compact only bytewise order"};
  }
  if (job.format.filter != nullptr) {
    const std::optional<BloomShape> shape = job.format.filter->bloom();
    if (!shape.has_value() || !shape->of_user_keys || shape->bits_per_key > kBitsPerKeyMax) {
      return {Code::kUnsupported, "a device can make only Bloom filters over user keys"};
    }
  }
  if (job.format.block_size > kBlockBytesMax || job.output_bytes_max == 0) {
    return {Code::kUnsupported, "a device cannot make blocks or tables of this size"};
  }
  if (job.lifetime.has_value() &&
      std::max(job.lifetime->expiry_offset, job.lifetime->generation_offset) > kBlockBytesMax) {
    return {Code::kUnsupported, "a device cannot read an expiry this far into a value"};
  }
  return Status::Ok();
}

}  // namespace weft::compaction::device
