// bench/device/ceilings.h: the limits of the device and its bus: bare memory traffic in the shapes
// of the table's operations, and nothing else.
//
// Threads   one host thread. Launches enqueue; the timer and the copies wait.
#pragma once

#include <cstdint>

#include "processor/cuda/device_memory.h"

namespace weft::bench {

// Times the work enqueued between Begin and End, by the device's own clock.
class DeviceTimer {
 public:
  DeviceTimer() = default;
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  Status Begin(processor::CudaStream stream);
  Status End(processor::CudaStream stream);
  // From Begin to End; waits.
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

// Reads `count` independent random lines, eight lanes a line. `sink`: a word that keeps the reads
// alive.
Status ReadRandomLines(Region region, uint64_t count, uint64_t seed, uint64_t* sink,
                       processor::CudaStream stream);
// Reads, `count` times, a random line of `index`, then `object_bytes` (a multiple of 16) of `log`.
// Their place, a multiple of `align` bytes, depends on the line.
Status ReadBucketThenObject(Region index, Region log, uint32_t object_bytes, uint32_t align,
                            uint64_t count, uint64_t seed, uint64_t* sink,
                            processor::CudaStream stream);
// `count` compare-and-swaps of random words; none changes its word.
Status SwapRandomWords(Region region, uint64_t count, uint64_t seed, uint64_t* sink,
                       processor::CudaStream stream);

// Bytes a second between host and device, by copies of `bytes`; waits.
struct BusRates {
  double in = 0, out = 0, both = 0;
};
Result<BusRates> MeasureBus(uint64_t bytes);

}  // namespace weft::bench
