// bench/device/ceilings.h: what the device and its bus allow at all: bare memory traffic of the
// shapes that the table's operations have, and nothing else.
//
// Threads   one host thread. Launches enqueue; the timer and the copies wait.
#pragma once

#include <cstdint>

#include "processor/cuda/device_memory.h"

namespace weft::bench {

// Times what is enqueued between its calls by the device's own clock.
class DeviceTimer {
 public:
  DeviceTimer() = default;
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  Status Begin(processor::CudaStream stream);
  Status End(processor::CudaStream stream);
  // Of what lies between; waits.
  Result<double> Seconds();

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

// A region of device memory, counted in lines of 64 bytes.
struct Region {
  const void* data = nullptr;
  uint64_t lines = 0;
};

// `count` independent reads of one random line each, eight lanes a line. `sink`: one word that
// keeps the reads alive.
Status ReadRandomLines(Region region, uint64_t count, uint64_t seed, uint64_t* sink,
                       processor::CudaStream stream);
// `count` times a random line of `index`, then the 16-byte multiple `object_bytes` at a place in
// `log` that depends on what was read, which is a multiple of `align` bytes.
Status ReadBucketThenObject(Region index, Region log, uint32_t object_bytes, uint32_t align,
                            uint64_t count, uint64_t seed, uint64_t* sink,
                            processor::CudaStream stream);
// `count` compare-and-swaps of random words, none of which changes its word.
Status SwapRandomWords(Region region, uint64_t count, uint64_t seed, uint64_t* sink,
                       processor::CudaStream stream);

// Bytes a second between host and device by copies of `bytes`; waits.
struct BusRates {
  double in = 0, out = 0, both = 0;
};
Result<BusRates> MeasureBus(uint64_t bytes);

}  // namespace weft::bench
