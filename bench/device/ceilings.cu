#include "bench/device/ceilings.h"

#include <cuda_runtime.h>

#include "base/cuda/cuda_status.h"
#include "base/random.h"
#include "processor/cuda/cuda_warp.cuh"

namespace weft::bench {
namespace {

using base::LaunchStatus;
using processor::tile::CudaWarp;

constexpr uint32_t kLanes = 256;
constexpr uint32_t kInFlight = 8;

uint32_t BlocksFor(uint64_t lanes) { return static_cast<uint32_t>((lanes + kLanes - 1) / kLanes); }

// Eight lines a tile, all in flight: as the table's own search fetches buckets.
__device__ void FetchRandom(Region region, uint64_t first, uint64_t seed,
                            uint64_t (&lines)[kInFlight]) {
  const CudaWarp warp;
  const uint64_t own = __umul64hi(base::Mix(seed + first + warp.lane() % 8), region.lines);
#pragma unroll
  for (uint32_t j = 0; j < kInFlight; j++) {
    const uint64_t line = warp.TileGet(own, j);
    lines[j] =
        CudaWarp::Load(static_cast<const uint64_t*>(region.data) + line * 8 + warp.lane() % 8);
  }
}

__global__ void __launch_bounds__(kLanes, 4)
    LineKernel(Region region, uint64_t count, uint64_t seed, uint64_t* sink) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kLanes + threadIdx.x;
  uint64_t lines[kInFlight];
  FetchRandom(region, i / 8 * 8, seed, lines);
  uint64_t sum = 0;
#pragma unroll
  for (uint32_t j = 0; j < kInFlight; j++) sum ^= lines[j];
  if (sum == 0x123456789abcdefful && i < count) *sink = sum;
}

// Objects are read by the eight lanes of a tile, 16 bytes each a step.
__global__ void __launch_bounds__(kLanes, 4)
    BucketObjectKernel(Region index, Region log, uint32_t object_bytes, uint32_t align,
                       uint64_t count, uint64_t seed, uint64_t* sink) {
  const CudaWarp warp;
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kLanes + threadIdx.x;
  uint64_t lines[kInFlight];
  FetchRandom(index, i / 8 * 8, seed, lines);
  const uint64_t places = (log.lines * 64 - object_bytes) / align;
  uint64_t objects[kInFlight];
#pragma unroll
  for (uint32_t j = 0; j < kInFlight; j++) {
    const uint64_t slot = warp.TileGet(lines[j], j);
    objects[j] = __umul64hi(base::Mix(slot ^ (seed + i / 8 * 8 + j)), places) * align;
  }
  uint64_t sum = 0;
  for (uint32_t at = warp.lane() % 8 * 16; at < (object_bytes + 127) / 128 * 128; at += 128) {
#pragma unroll
    for (uint32_t j = 0; j < kInFlight; j++) {
      if (at < object_bytes) {
        const processor::tile::Words2 words =
            CudaWarp::Load2(static_cast<const uint8_t*>(log.data) + objects[j] + at);
        sum ^= words.low + words.high;
      }
    }
  }
  if (sum == 0x123456789abcdefful && i < count) *sink = sum;
}

__global__ void __launch_bounds__(kLanes)
    SwapKernel(Region region, uint64_t count, uint64_t seed, uint64_t* sink) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kLanes + threadIdx.x;
  if (i >= count) return;
  const uint64_t word = __umul64hi(base::Mix(seed + i), region.lines * 8);
  // A word that no slot of a table has, by itself: nothing changes.
  uint64_t* at = static_cast<uint64_t*>(const_cast<void*>(region.data)) + word;
  if (CudaWarp::Swap(at, ~0ul, ~0ul)) *sink = word;
}

cudaEvent_t EventOf(void* event) { return static_cast<cudaEvent_t>(event); }

Status TimeCopies(int turns, uint64_t bytes, void* device_in, const void* host_in, void* host_out,
                  const void* device_out, double* rate) {
  cudaStream_t in = nullptr, out = nullptr;
  WEFT_CUDA_TRY(cudaStreamCreate(&in));
  WEFT_CUDA_TRY(cudaStreamCreate(&out));
  DeviceTimer timer;
  for (int turn = 0; turn <= turns; turn++) {
    if (turn == 1) {  // the first is a warm-up
      WEFT_CUDA_TRY(cudaDeviceSynchronize());
      const Status begun = timer.Begin(nullptr);
      if (!begun.ok()) return begun;
    }
    if (device_in != nullptr)
      WEFT_CUDA_TRY(cudaMemcpyAsync(device_in, host_in, bytes, cudaMemcpyHostToDevice, in));
    if (host_out != nullptr)
      WEFT_CUDA_TRY(cudaMemcpyAsync(host_out, device_out, bytes, cudaMemcpyDeviceToHost, out));
  }
  // The default stream waits for both, and the event with it.
  const Status ended = timer.End(nullptr);
  if (!ended.ok()) return ended;
  const Result<double> seconds = timer.Seconds();
  if (!seconds) return seconds.error();
  WEFT_CUDA_TRY(cudaStreamDestroy(in));
  WEFT_CUDA_TRY(cudaStreamDestroy(out));
  const int ways = (device_in != nullptr ? 1 : 0) + (host_out != nullptr ? 1 : 0);
  *rate = static_cast<double>(bytes) * turns * ways / seconds.value();
  return Status::Ok();
}

}  // namespace

DeviceTimer::~DeviceTimer() {
  if (begin_ != nullptr) cudaEventDestroy(EventOf(begin_));
  if (end_ != nullptr) cudaEventDestroy(EventOf(end_));
}

Status DeviceTimer::Begin(processor::CudaStream stream) {
  if (begin_ == nullptr) {
    cudaEvent_t event = nullptr;
    WEFT_CUDA_TRY(cudaEventCreate(&event));
    begin_ = event;
    WEFT_CUDA_TRY(cudaEventCreate(&event));
    end_ = event;
  }
  WEFT_CUDA_TRY(cudaEventRecord(EventOf(begin_), stream));
  return Status::Ok();
}

Status DeviceTimer::End(processor::CudaStream stream) {
  WEFT_CUDA_TRY(cudaEventRecord(EventOf(end_), stream));
  return Status::Ok();
}

Result<double> DeviceTimer::Seconds() {
  WEFT_CUDA_TRY(cudaEventSynchronize(EventOf(end_)));
  float milliseconds = 0;
  WEFT_CUDA_TRY(cudaEventElapsedTime(&milliseconds, EventOf(begin_), EventOf(end_)));
  return static_cast<double>(milliseconds) * 1e-3;
}

Status ReadRandomLines(Region region, uint64_t count, uint64_t seed, uint64_t* sink,
                       processor::CudaStream stream) {
  LineKernel<<<BlocksFor(count), kLanes, 0, stream>>>(region, count, seed, sink);
  return LaunchStatus("LineKernel", __FILE__, __LINE__);
}

Status ReadBucketThenObject(Region index, Region log, uint32_t object_bytes, uint32_t align,
                            uint64_t count, uint64_t seed, uint64_t* sink,
                            processor::CudaStream stream) {
  BucketObjectKernel<<<BlocksFor(count), kLanes, 0, stream>>>(index, log, object_bytes, align,
                                                              count, seed, sink);
  return LaunchStatus("BucketObjectKernel", __FILE__, __LINE__);
}

Status SwapRandomWords(Region region, uint64_t count, uint64_t seed, uint64_t* sink,
                       processor::CudaStream stream) {
  SwapKernel<<<BlocksFor(count), kLanes, 0, stream>>>(region, count, seed, sink);
  return LaunchStatus("SwapKernel", __FILE__, __LINE__);
}

Result<BusRates> MeasureBus(uint64_t bytes) {
  auto device = processor::DeviceBuffer::Create(2 * bytes);
  if (!device) return device.error();
  auto host = processor::PinnedBuffer::Create(2 * bytes);
  if (!host) return host.error();
  uint8_t* const device_in = device->as<uint8_t>();
  uint8_t* const host_in = static_cast<uint8_t*>(host->data());
  uint8_t* const device_out = device_in + bytes;
  uint8_t* const host_out = host_in + bytes;
  constexpr int kTurns = 4;
  BusRates rates;
  const Status in = TimeCopies(kTurns, bytes, device_in, host_in, nullptr, nullptr, &rates.in);
  if (!in.ok()) return in;
  const Status out = TimeCopies(kTurns, bytes, nullptr, nullptr, host_out, device_out, &rates.out);
  if (!out.ok()) return out;
  const Status both =
      TimeCopies(kTurns, bytes, device_in, host_in, host_out, device_out, &rates.both);
  if (!both.ok()) return both;
  return rates;
}

}  // namespace weft::bench
