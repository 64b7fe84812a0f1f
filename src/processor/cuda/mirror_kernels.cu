#include "processor/cuda/mirror_kernels.h"

#include "processor/cuda/cuda_status.h"

namespace weft::processor {
namespace {

constexpr uint32_t kBlockLanes = 256;
constexpr uint32_t kPieceLanes = 32;  // a lane a slot
static_assert(kPieceLanes == kMarkBuckets * kBucketSlots);

__global__ void ScatterKernel(const MirrorMemory::Piece* pieces, uint32_t count,
                              task::Bucket* buckets) {
  const uint32_t piece = (blockIdx.x * kBlockLanes + threadIdx.x) / kPieceLanes;
  const uint32_t slot = threadIdx.x % kPieceLanes;
  if (piece >= count) return;
  const uint64_t first = pieces[piece].number * kMarkBuckets;
  buckets[first + slot / kBucketSlots].slots[slot % kBucketSlots] =
      pieces[piece].buckets[slot / kBucketSlots].slots[slot % kBucketSlots];
}

__global__ void ResidencyKernel(const Residency* list, uint32_t count, uint32_t* resident,
                                uint64_t* bases) {
  const uint32_t i = blockIdx.x * kBlockLanes + threadIdx.x;
  if (i >= count) return;
  const Residency each = list[i];
  resident[each.segment] = each.units;
  bases[each.segment] = each.base;
}

uint32_t BlocksFor(uint64_t lanes) {
  return static_cast<uint32_t>((lanes + kBlockLanes - 1) / kBlockLanes);
}

}  // namespace

Status ScatterPieces(const MirrorMemory::Piece* pieces, uint32_t count, task::Bucket* buckets,
                     CudaStream stream) {
  if (count == 0) return Status::Ok();
  ScatterKernel<<<BlocksFor(uint64_t{count} * kPieceLanes), kBlockLanes, 0, stream>>>(
      pieces, count, buckets);
  return LaunchStatus("ScatterKernel", __FILE__, __LINE__);
}

Status EnterResidency(const Residency* list, uint32_t count, uint32_t* resident, uint64_t* bases,
                      CudaStream stream) {
  if (count == 0) return Status::Ok();
  ResidencyKernel<<<BlocksFor(count), kBlockLanes, 0, stream>>>(list, count, resident, bases);
  return LaunchStatus("ResidencyKernel", __FILE__, __LINE__);
}

}  // namespace weft::processor
