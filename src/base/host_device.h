// base/host_device.h: what functions need that both the host and a GPU's threads call.
//
// Such functions are plain C++ over pointers, without allocation, virtual calls, exceptions or
// standard containers. nvcc compiles them for both sides. Every other compiler compiles them for
// the host, where the same code is tested.
//
// Threads   the atomic verbs: any, on either side, one side at a time. They order nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define WEFT_HOST_DEVICE __host__ __device__
#else
#define WEFT_HOST_DEVICE
#endif

namespace weft::base {

// Numbers at any alignment.
WEFT_HOST_DEVICE inline uint32_t LoadLittleEndian32(const uint8_t* from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}
WEFT_HOST_DEVICE inline uint64_t LoadLittleEndian64(const uint8_t* from) {
  uint64_t word;
  memcpy(&word, from, sizeof word);
  return word;
}
WEFT_HOST_DEVICE inline void StoreLittleEndian32(uint8_t* to, uint32_t word) {
  memcpy(to, &word, sizeof word);
}
WEFT_HOST_DEVICE inline void StoreLittleEndian64(uint8_t* to, uint64_t word) {
  memcpy(to, &word, sizeof word);
}

WEFT_HOST_DEVICE inline void AtomicAdd(uint32_t* to, uint32_t amount) {
#if defined(__CUDA_ARCH__)
  atomicAdd(to, amount);
#else
  __atomic_fetch_add(to, amount, __ATOMIC_RELAXED);
#endif
}
WEFT_HOST_DEVICE inline void AtomicOr(uint32_t* to, uint32_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(to, bits);
#else
  __atomic_fetch_or(to, bits, __ATOMIC_RELAXED);
#endif
}

}  // namespace weft::base
