// compaction/cuda/pinned_memory.cuh: memory of the host that a device copies from and to at full
// speed, kept from one job to the next: to pin a page takes as long as to copy it a few times.
//
// Threads   any.
// Errors    where nothing can be pinned, memory is as any other, and copies are slower.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <map>
#include <set>

#include "base/buffer_memory.h"
#include "base/mutex.h"

namespace weft::compaction::device {

class PinnedMemory final : public base::BufferMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  // REQUIRES: all is free
  ~PinnedMemory() override {
    for (const auto& [bytes, at] : free_) cudaFreeHost(at);
  }

  char* Allocate(size_t bytes) override WEFT_EXCLUDES(mutex_) {
    bytes = RoomFor(bytes);
    base::MutexLock lock(&mutex_);
    if (const auto found = free_.find(bytes); found != free_.end()) {
      char* const at = found->second;
      free_.erase(found);
      kept_bytes_ -= bytes;
      return at;
    }
    void* at = nullptr;
    if (cudaHostAlloc(&at, bytes, cudaHostAllocPortable) != cudaSuccess) {
      (void)cudaGetLastError();  // told by slower copies
      return new char[bytes];
    }
    pinned_.insert(at);
    return static_cast<char*>(at);
  }
  bool IsLike(const void* at) const override {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, at) == cudaSuccess)
      return attributes.type == cudaMemoryTypeHost;
    (void)cudaGetLastError();  // of memory that the driver does not know, in old versions
    return false;
  }
  void Free(char* at, size_t bytes) override WEFT_EXCLUDES(mutex_) {
    bytes = RoomFor(bytes);
    base::MutexLock lock(&mutex_);
    if (!pinned_.contains(at)) {
      delete[] at;
    } else if (kept_bytes_ + bytes <= kKeptBytesMax) {
      free_.emplace(bytes, at);
      kept_bytes_ += bytes;
    } else {
      pinned_.erase(at);
      cudaFreeHost(at);
    }
  }

 private:
  static constexpr size_t kKeptBytesMax = size_t{1} << 30;

  // Eighths of powers of two, so that what is kept fits again.
  static size_t RoomFor(size_t bytes) {
    constexpr size_t kSmallest = 4096;
    if (bytes <= kSmallest) return kSmallest;
    const size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
  }

  base::Mutex mutex_;
  std::multimap<size_t, char*> free_ WEFT_GUARDED_BY(mutex_);
  std::set<void*> pinned_ WEFT_GUARDED_BY(mutex_);
  size_t kept_bytes_ WEFT_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::compaction::device
