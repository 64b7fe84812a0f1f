#include "processor/cuda/line_transfer.h"

#include <cstring>
#include <utility>

#include "base/cuda/cuda_status.h"
#include "processor/mirror/copy_buckets.h"

namespace weft::processor {
namespace {

constexpr uint32_t kBlockLanes = 256;
constexpr uint32_t kBlockLines = kBlockLanes / kBucketSlots;

// A lane a word. `lines` and `numbers` come over the bus: whole warps read them, each byte once.
__global__ void LineKernel(const uint64_t* lines, const uint64_t* numbers, uint32_t count,
                           uint64_t* table) {
  __shared__ uint64_t places[kBlockLines];
  const uint32_t first = blockIdx.x * kBlockLines;
  if (threadIdx.x < kBlockLines && first + threadIdx.x < count)
    places[threadIdx.x] = numbers[first + threadIdx.x] * kBucketSlots;
  __syncthreads();
  const uint32_t line = threadIdx.x / kBucketSlots;
  if (first + line >= count) return;
  table[places[line] + threadIdx.x % kBucketSlots] =
      lines[uint64_t{first} * kBucketSlots + threadIdx.x];
}

}  // namespace

Result<LineTransfer> LineTransfer::Create() {
  LineTransfer transfer;
  auto ring = PinnedRing::Create(kPartBytes);
  if (!ring) return ring.error();
  transfer.ring_ = std::move(*ring);
  return Result<LineTransfer>(std::move(transfer));
}

Status LineTransfer::Gather(const task::Bucket* from, std::span<const uint64_t> numbers) {
  if (count_ == 0) {
    if (Status status = ring_.Begin(); !status.ok()) return status;
  }
  task::Bucket* const to = lines() + count_;
  CopyBuckets(from, numbers, [to](size_t i) { return &to[i]; });
  std::memcpy(this->numbers() + count_, numbers.data(), numbers.size_bytes());
  count_ += numbers.size();
  return Status::Ok();
}

Status LineTransfer::Flush(task::Bucket* to, CudaStream stream) {
  if (count_ == 0) return Status::Ok();
  const auto count = static_cast<uint32_t>(count_);
  LineKernel<<<(count + kBlockLines - 1) / kBlockLines, kBlockLanes, 0, stream>>>(
      lines()->slots, numbers(), count, to->slots);
  if (Status status = base::LaunchStatus("LineKernel", __FILE__, __LINE__); !status.ok())
    return status;
  if (Status status = ring_.End(stream); !status.ok()) return status;
  count_ = 0;  // what was not sent is kept: nobody announces it again
  return Status::Ok();
}

}  // namespace weft::processor
