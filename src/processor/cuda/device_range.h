// processor/cuda/device_range.h: addresses of a CUDA device that get memory chunk by chunk.
//
// The bytes at an address stay there, whatever else gets or loses memory. So a log whose segments
// come and go needs no translation of its locations. It uses the driver's virtual memory calls,
// which are looked up at run time: without a driver, Reserve says so.
//
// Threads   one at a time. All of it acts on the device that is current for the calling thread.
// Errors    as base/cuda/cuda_status.h says; kNoMemory if the device has none left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/status.h"

namespace weft::processor {

class DeviceRange {
 public:
  DeviceRange() = default;
  DeviceRange(DeviceRange&& other) noexcept { *this = std::move(other); }
  DeviceRange& operator=(DeviceRange&& other) noexcept;
  ~DeviceRange();

  // Addresses for `bytes`; nothing is there yet.
  static Result<DeviceRange> Reserve(uint64_t bytes);

  uint8_t* data() const { return reinterpret_cast<uint8_t*>(start_); }
  // Memory that all chunks have.
  uint64_t held_bytes() const { return held_chunks_ * chunk_bytes_; }

  // Memory that Hold would add: that of chunks which nobody holds.
  uint64_t MissingBytes(uint64_t offset, uint64_t bytes) const;

  // Gives memory to every chunk that [offset, offset + bytes) touches. Counted: a chunk keeps its
  // memory until it was dropped as often as held. On an error nothing has changed.
  Status Hold(uint64_t offset, uint64_t bytes);
  // REQUIRES: held; nothing on the device uses it, or will
  void Drop(uint64_t offset, uint64_t bytes);

 private:
  struct Chunk {
    uint64_t memory = 0;  // the driver's handle
    uint32_t holders = 0;
  };
  Status HoldChunk(uint64_t number);
  void DropChunk(uint64_t number);

  uint64_t start_ = 0;
  uint64_t bytes_ = 0;
  uint64_t chunk_bytes_ = 0;
  int device_ = 0;
  std::vector<Chunk> chunks_;
  uint64_t held_chunks_ = 0;
};

}  // namespace weft::processor
