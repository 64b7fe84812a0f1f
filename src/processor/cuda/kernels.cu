#include "processor/cuda/kernels.h"

#include <algorithm>

#include "processor/cuda/cuda_status.h"
#include "processor/cuda/cuda_warp.cuh"
#include "processor/cuda/tile_tasks.h"

namespace weft::processor {
namespace {

constexpr uint32_t kSearches = kRunSearch;
constexpr uint32_t kFinds = kRunSearch | kRunCompare;
constexpr uint32_t kReads = kFinds | kRunRead;
constexpr uint32_t kStores = kFinds | kRunInsert;
constexpr uint32_t kDeletes = kFinds | kRunDelete;
constexpr uint32_t kMixes = kReads | kRunInsert | kRunDelete;

// A warp has 32 queries under way from its first instruction on, so 32 warps a multiprocessor keep
// a thousand lines in flight, more than the memory needs; more registers a lane pay better.
constexpr uint32_t kBlockLanes = 256;
constexpr uint32_t BlocksMin(uint32_t words, uint32_t tasks) {
  if ((tasks & kRunInsert) == 0) return 4;
  return words == 0 ? 2 : 3;
}

template <uint32_t kWords, uint32_t kTasks>
__global__ void __launch_bounds__(kBlockLanes, BlocksMin(kWords, kTasks))
    TableKernel(const __grid_constant__ TableJob job) {
  tile::RunGroup<tile::CudaWarp, kWords, kTasks>(tile::CudaWarp(), job,
                                                 blockIdx.x * kBlockLanes + threadIdx.x);
}

// Stores that the first pass left, one a lane.
__global__ void __launch_bounds__(kBlockLanes, 2)
    FinishKernel(const __grid_constant__ TableJob job) {
  const uint64_t count = *job.pending_count;
  for (uint64_t at = blockIdx.x * kBlockLanes + threadIdx.x; at < count;
       at += static_cast<uint64_t>(gridDim.x) * kBlockLanes)
    tile::FinishStore(job, job.pending[at]);
}

__global__ void __launch_bounds__(kBlockLanes, 2)
    PlainKernel(const __grid_constant__ task::QueryJob job) {
  const uint32_t i = job.begin + blockIdx.x * kBlockLanes + threadIdx.x;
  if (i < job.end) task::RunQuery(job, i);
}

uint32_t BlocksFor(uint64_t lanes) {
  return static_cast<uint32_t>((lanes + kBlockLanes - 1) / kBlockLanes);
}

template <uint32_t kWords, uint32_t kTasks>
Status Launch(const TableJob& job, CudaStream stream) {
  TableKernel<kWords, kTasks><<<BlocksFor(job.count), kBlockLanes, 0, stream>>>(job);
  return LaunchStatus("TableKernel", __FILE__, __LINE__);
}

template <uint32_t kTasks>
Status LaunchForKeys(const TableJob& job, CudaStream stream) {
  const bool one_length = job.key_bytes == nullptr && job.key_at == nullptr;
  switch (one_length ? job.key_bytes_all : 0) {
    case 8: return Launch<1, kTasks>(job, stream);
    case 16: return Launch<2, kTasks>(job, stream);
    case 32: return Launch<4, kTasks>(job, stream);
    default: return Launch<0, kTasks>(job, stream);
  }
}

Status LaunchForTasks(const TableJob& job, CudaStream stream) {
  switch (job.tasks) {
    case kSearches: return Launch<0, kSearches>(job, stream);
    case kFinds: return LaunchForKeys<kFinds>(job, stream);
    case kReads: return LaunchForKeys<kReads>(job, stream);
    case kStores: return LaunchForKeys<kStores>(job, stream);
    case kDeletes: return LaunchForKeys<kDeletes>(job, stream);
    case kMixes: return LaunchForKeys<kMixes>(job, stream);
    default: return {Code::kInvalidArgument, "no kernel runs just these tasks"};
  }
}

// Blocks of the second pass: how many it gets does not depend on what the first one left, which the
// host does not know. Enough to fill the device.
constexpr uint32_t kFinishBlocksMax = 1056;

}  // namespace

Status RunTable(const TableJob& job, CudaStream stream) {
  if (job.count == 0) return Status::Ok();
  if (job.count > kTableJobMax)
    return {Code::kInvalidArgument, "a job of more than kTableJobMax queries"};
  const bool stores = (job.tasks & kRunInsert) != 0;
  if (stores && job.index.newer.buckets != nullptr)
    return {Code::kUnsupported, "stores into a table that grows are the host's"};
  Status status = LaunchForTasks(job, stream);
  if (!status.ok() || !stores) return status;
  const uint32_t blocks = std::min(BlocksFor(job.count), kFinishBlocksMax);
  FinishKernel<<<blocks, kBlockLanes, 0, stream>>>(job);
  return LaunchStatus("FinishKernel", __FILE__, __LINE__);
}

Status RunPlain(const task::QueryJob& job, CudaStream stream) {
  if (job.end <= job.begin) return Status::Ok();
  PlainKernel<<<BlocksFor(job.end - job.begin), kBlockLanes, 0, stream>>>(job);
  return LaunchStatus("PlainKernel", __FILE__, __LINE__);
}

}  // namespace weft::processor
