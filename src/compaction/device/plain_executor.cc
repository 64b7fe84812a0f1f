#include "compaction/device/plain_executor.h"

#include "compaction/device/device_executor.h"
#include "compaction/device/plain_device.h"

namespace weft::compaction::device {

std::unique_ptr<Executor> NewPlainExecutor(uint64_t piece_bytes, uint64_t memory_bytes_max,
                                           DeviceStorage* storage) {
  return std::make_unique<DeviceExecutor<PlainDevice>>(
      "plain", piece_bytes, [=]() -> Result<std::unique_ptr<PlainDevice>> {
        return std::make_unique<PlainDevice>(memory_bytes_max, storage);
      });
}

}  // namespace weft::compaction::device
