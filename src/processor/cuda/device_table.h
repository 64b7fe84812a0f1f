// processor/cuda/device_table.h: a cache table that lives in a device's memory alone: index and
// object log, filled and read by the kernels.
//
// For batches whose keys and values are on the device already. It does not evict, expire or grow: a
// store without room in log or index is refused (kResultNone), and Clear starts over.
//
// Memory    64 bytes a bucket of eight slots, and the log. A load of 80 to 85 % of the slots is
//           where stores begin to be refused.
// Threads   one stream at a time: launches of one stream order what they do.
#pragma once

#include <memory>

#include "processor/cuda/device_memory.h"
#include "processor/cuda/table_job.h"

namespace weft::processor {

struct DeviceTableOptions {
  uint64_t buckets = 0;
  uint64_t log_bytes = 0;  // a multiple of 64
  // Each object starts at a multiple: 8, 16, 32 or 64. More wastes some memory and saves lines: an
  // object of 24 bytes at a multiple of 32 never lies on two.
  uint32_t object_align_bytes = 32;
  uint32_t policy = kPolicyCuckoo;
};

class DeviceTable {
 public:
  static Result<std::unique_ptr<DeviceTable>> Create(const DeviceTableOptions& options);

  // Empties it. Waits.
  Status Clear(CudaStream stream);
  // A job against this table: columns and outputs are the caller's to fill in.
  TableJob NewJob() const;
  // Bytes of the log that are taken. Waits.
  Result<uint64_t> LogBytesUsed() const;

  const DeviceTableOptions& options() const { return options_; }

 private:
  explicit DeviceTable(const DeviceTableOptions& options) : options_(options) {}

  const DeviceTableOptions options_;
  DeviceBuffer buckets_, moves_, log_, bases_, log_next_;
};

}  // namespace weft::processor
