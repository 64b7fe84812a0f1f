#include "processor/cuda/device_table.h"

#include <algorithm>

namespace weft::processor {
namespace {

constexpr uint64_t kFirstVersion = 1;

Status Allot(size_t bytes, DeviceBuffer* to) {
  Result<DeviceBuffer> buffer = DeviceBuffer::Create(bytes);
  if (!buffer) return buffer.error();
  *to = std::move(*buffer);
  return Status::Ok();
}

Status CheckOptions(const DeviceTableOptions& options) {
  const uint32_t align = options.object_align_bytes;
  if (align < 8 || align > 64 || (align & (align - 1)) != 0)
    return {Code::kInvalidArgument, "objects start at multiples of 8, 16, 32 or 64"};
  if (options.buckets == 0 || options.buckets >> kTagShift != 0)
    return {Code::kInvalidArgument, "a table has 1 to 2^48 - 1 buckets"};
  if (options.policy == kPolicySetAssociative && options.buckets % 2 != 0)
    return {Code::kInvalidArgument, "sets of two buckets need an even number"};
  if (options.log_bytes < 128 || options.log_bytes % 64 != 0 ||
      options.log_bytes / 8 > kLocationMask)
    return {Code::kInvalidArgument, "a log has a multiple of 64 bytes, at most 8 TiB"};
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<DeviceTable>> DeviceTable::Create(const DeviceTableOptions& options) {
  Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::unique_ptr<DeviceTable> table(new DeviceTable(options));  // owned
  status = Allot(options.buckets * sizeof(task::Bucket), &table->buckets_);
  if (status.ok()) status = Allot(kMoveStripes * sizeof(uint32_t), &table->moves_);
  if (status.ok()) status = Allot(options.log_bytes + kReadBehindBytes, &table->log_);
  if (status.ok()) status = Allot(sizeof(uint64_t), &table->bases_);
  if (status.ok()) status = Allot(sizeof(uint64_t), &table->log_next_);
  if (status.ok()) status = table->bases_.CopyIn(&kFirstVersion, sizeof kFirstVersion);
  // Kernels read whole words and pairs, filler too: nobody reads what nobody wrote.
  if (status.ok()) status = table->log_.Fill(0, nullptr);
  if (status.ok()) status = table->Clear(nullptr);
  if (status.ok()) status = WaitForStream(nullptr);
  if (!status.ok()) return status;
  return table;
}

Status DeviceTable::Clear(CudaStream stream) {
  Status status = buckets_.Fill(0, stream);
  if (status.ok()) status = moves_.Fill(0, stream);
  if (status.ok()) status = WaitForStream(stream);
  // Location 0 names no object.
  const uint64_t first = options_.object_align_bytes / 8;
  if (status.ok()) status = log_next_.CopyIn(&first, sizeof first);
  return status;
}

TableJob DeviceTable::NewJob() const {
  TableJob job;
  job.index = {{buckets_.as<task::Bucket>(), options_.buckets},
               {nullptr, 0},
               moves_.as<uint32_t>(),
               options_.policy,
               0,
               nullptr,
               nullptr};
  job.log = {log_.as<uint8_t>(), bases_.as<uint64_t>(), 0, 63, 0, nullptr, nullptr};
  job.log_align = options_.object_align_bytes / 8;
  job.log_next = log_next_.as<uint64_t>();
  job.log_end = options_.log_bytes / 8;
  return job;
}

Result<uint64_t> DeviceTable::LogBytesUsed() const {
  uint64_t next = 0;
  const Status status = log_next_.CopyOut(&next, sizeof next);
  if (!status.ok()) return status;
  return std::min(next * 8, options_.log_bytes);
}

}  // namespace weft::processor
