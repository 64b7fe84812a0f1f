#include "compaction/device/device_executor.h"

#include <cstdint>
#include <limits>

namespace weft::compaction::device {

Status CanDo(const Job& job) {
  if (!job.comparator->is_bytewise()) {
    return {Code::kUnsupported, "only bytewise order can be compacted by a device"};
  }
  if (job.format.filter != nullptr) {
    const std::optional<BloomShape> shape = job.format.filter->bloom();
    if (!shape.has_value() || !shape->of_user_keys) {
      return {Code::kUnsupported, "only Bloom filters over user keys can be made by a device"};
    }
  }
  if (job.format.block_size > std::numeric_limits<uint32_t>::max() / 4) {
    return {Code::kUnsupported, "blocks are too large for a device"};
  }
  return Status::Ok();
}

}  // namespace weft::compaction::device
