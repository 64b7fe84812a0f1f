#include "processor/cuda/kernels.h"

#include <algorithm>

#include "base/cuda/cuda_status.h"
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
constexpr uint32_t kLaterReads = kRunCompare | kRunRead;
constexpr uint32_t kChanges = kRunInsert | kRunDelete;

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
  tile::RunGroup<tile::CudaWarp, kWords, kTasks, false>(
      tile::CudaWarp(), job, blockIdx.x * kBlockLanes + threadIdx.x, nullptr);
}

// Jobs of one launch: job n has the blocks from begins[n] to begins[n + 1].
struct TableGroup {
  uint32_t count;
  uint32_t shares_records;  // 1: of all of them
  uint32_t begins[kTableGroupMax + 1];
  TableJob jobs[kTableGroupMax];
};
static_assert(sizeof(TableGroup) < 32764, "what CUDA 12.1 passes to a kernel by value");

// The job of the caller's block.
__device__ __forceinline__ uint32_t JobOfBlock(const TableGroup& group) {
  uint32_t n = 0;
  while (n + 1 < group.count && blockIdx.x >= group.begins[n + 1]) n++;
  return n;
}

template <uint32_t kWords, uint32_t kTasks>
__global__ void __launch_bounds__(kBlockLanes, BlocksMin(kWords, kTasks))
    GroupKernel(const __grid_constant__ TableGroup group) {
  const uint32_t n = JobOfBlock(group);
  const uint32_t block = blockIdx.x - group.begins[n];
  tile::RunGroup<tile::CudaWarp, kWords, kTasks, false>(tile::CudaWarp(), group.jobs[n],
                                                        block * kBlockLanes + threadIdx.x, nullptr);
}

// Jobs that share records: a block takes the queries of one warp, and all its warps copy.
constexpr uint32_t kSharedQueries = tile::kWarpLanes;

template <uint32_t kWords, uint32_t kTasks>
__global__ void __launch_bounds__(kBlockLanes, 3)
    SharedKernel(const __grid_constant__ TableGroup group) {
  __shared__ tile::RecordList list;
  if (threadIdx.x < tile::kWarpLanes) {
    const uint32_t n = JobOfBlock(group);
    const uint32_t block = blockIdx.x - group.begins[n];
    list.pairs = 0;
    __syncwarp();
    tile::RunGroup<tile::CudaWarp, kWords, kTasks, true>(
        tile::CudaWarp(), group.jobs[n], block * kSharedQueries + threadIdx.x, &list);
  }
  __syncthreads();
  tile::CopyListed<tile::CudaWarp>(list, threadIdx.x, kBlockLanes);
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

uint32_t BlocksFor(uint64_t queries, uint32_t of_a_block = kBlockLanes) {
  return static_cast<uint32_t>((queries + of_a_block - 1) / of_a_block);
}

template <uint32_t kWords, uint32_t kTasks>
Status Launch(const TableJob& job, CudaStream stream) {
  TableKernel<kWords, kTasks><<<BlocksFor(job.count), kBlockLanes, 0, stream>>>(job);
  return base::LaunchStatus("TableKernel", __FILE__, __LINE__);
}

template <uint32_t kWords, uint32_t kTasks>
Status Launch(const TableGroup& group, CudaStream stream) {
  if constexpr ((kTasks & kChanges) != 0) {
    return {Code::kInvalidArgument, "jobs that store or delete are launched one by one"};
  } else {
    if constexpr ((kTasks & kRunRead) != 0) {
      if (group.shares_records != 0) {
        SharedKernel<kWords, kTasks><<<group.begins[group.count], kBlockLanes, 0, stream>>>(group);
        return base::LaunchStatus("SharedKernel", __FILE__, __LINE__);
      }
    }
    GroupKernel<kWords, kTasks><<<group.begins[group.count], kBlockLanes, 0, stream>>>(group);
    return base::LaunchStatus("GroupKernel", __FILE__, __LINE__);
  }
}

// `key_bytes`: of all keys, which lie end to end; 0: of various lengths or in various places.
template <uint32_t kTasks, typename Jobs>
Status LaunchForKeys(const Jobs& jobs, uint32_t key_bytes, CudaStream stream) {
  switch (key_bytes) {
    case 8: return Launch<1, kTasks>(jobs, stream);
    case 16: return Launch<2, kTasks>(jobs, stream);
    case 32: return Launch<4, kTasks>(jobs, stream);
    default: return Launch<0, kTasks>(jobs, stream);
  }
}

template <typename Jobs>
Status LaunchForTasks(const Jobs& jobs, uint32_t tasks, uint32_t key_bytes, CudaStream stream) {
  switch (tasks) {
    case kSearches: return Launch<0, kSearches>(jobs, stream);
    case kFinds: return LaunchForKeys<kFinds>(jobs, key_bytes, stream);
    case kReads: return LaunchForKeys<kReads>(jobs, key_bytes, stream);
    case kStores: return LaunchForKeys<kStores>(jobs, key_bytes, stream);
    case kDeletes: return LaunchForKeys<kDeletes>(jobs, key_bytes, stream);
    case kMixes: return LaunchForKeys<kMixes>(jobs, key_bytes, stream);
    case kRunCompare: return Launch<0, kRunCompare>(jobs, stream);
    case kLaterReads: return Launch<0, kLaterReads>(jobs, stream);
    case kRunRead: return Launch<0, kRunRead>(jobs, stream);
    default: return {Code::kUnsupported, "no kernel runs just these tasks"};
  }
}

uint32_t OneKeyLength(const TableJob& job) {
  return job.key_bytes == nullptr && job.key_at == nullptr ? job.key_bytes_all : 0;
}

Status CheckJob(const TableJob& job) {
  if (job.count > kTableJobMax)
    return {Code::kInvalidArgument, "a job of more than kTableJobMax queries"};
  if (job.index.newer.buckets != nullptr)
    return {Code::kUnsupported, "a table that grows is not for these kernels"};
  if ((job.tasks & kChanges) != 0 && (job.again != 0 || job.mirrored != 0))
    return {Code::kUnsupported, "changes of a mirror, or made again, are not for these kernels"};
  if ((job.tasks & kRunRead) != 0 && job.value_stride == 0 && job.values_capacity > kValueNoteBit)
    return {Code::kInvalidArgument, "room for values of more than kValueNoteBit units"};
  return Status::Ok();
}

// Blocks of the second pass: how many it gets does not depend on what the first one left, which the
// host does not know. Enough to fill the device.
constexpr uint32_t kFinishBlocksMax = 1056;

}  // namespace

Status RunTable(const TableJob& job, CudaStream stream) {
  if (job.count == 0) return Status::Ok();
  if (job.shares_records != 0) return RunTables(&job, 1, stream);
  const Status status = CheckJob(job);
  if (!status.ok()) return status;
  const Status launched = LaunchForTasks(job, job.tasks, OneKeyLength(job), stream);
  if (!launched.ok() || (job.tasks & kRunInsert) == 0) return launched;
  const uint32_t blocks = std::min(BlocksFor(job.count), kFinishBlocksMax);
  FinishKernel<<<blocks, kBlockLanes, 0, stream>>>(job);
  return base::LaunchStatus("FinishKernel", __FILE__, __LINE__);
}

Status RunTables(const TableJob* jobs, uint32_t count, CudaStream stream) {
  if (count > kTableGroupMax)
    return {Code::kInvalidArgument, "a group of more than kTableGroupMax jobs"};
  TableGroup group;
  group.count = 0;
  group.shares_records = 0;
  for (uint32_t n = 0; n < count; n++)
    if (jobs[n].shares_records != 0 && (jobs[n].tasks & kRunRead) != 0) group.shares_records = 1;
  const uint32_t of_a_block = group.shares_records != 0 ? kSharedQueries : kBlockLanes;
  uint64_t blocks = 0;
  for (uint32_t n = 0; n < count; n++) {
    if (jobs[n].count == 0) continue;
    const Status status = CheckJob(jobs[n]);
    if (!status.ok()) return status;
    if (group.count != 0 && jobs[n].tasks != group.jobs[0].tasks)
      return {Code::kInvalidArgument, "jobs of one launch have the same tasks"};
    group.begins[group.count] = static_cast<uint32_t>(blocks);
    blocks += BlocksFor(jobs[n].count, of_a_block);
    group.jobs[group.count++] = jobs[n];
  }
  if (group.count == 0) return Status::Ok();
  if (blocks > INT32_MAX) return {Code::kInvalidArgument, "a group of too many queries"};
  group.begins[group.count] = static_cast<uint32_t>(blocks);
  uint32_t key_bytes = OneKeyLength(group.jobs[0]);
  for (uint32_t n = 1; n < group.count; n++)
    if (OneKeyLength(group.jobs[n]) != key_bytes) key_bytes = 0;
  return LaunchForTasks(group, group.jobs[0].tasks, key_bytes, stream);
}

Status RunPlain(const task::QueryJob& job, CudaStream stream) {
  if (job.end <= job.begin) return Status::Ok();
  PlainKernel<<<BlocksFor(job.end - job.begin), kBlockLanes, 0, stream>>>(job);
  return base::LaunchStatus("PlainKernel", __FILE__, __LINE__);
}

}  // namespace weft::processor
