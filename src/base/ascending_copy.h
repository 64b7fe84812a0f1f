// base/ascending_copy.h: copies bytes from the first to the last, as a killed process leaves them.
//
// memcpy stores in any order, glibc's for instance the bytes before the first aligned one at the
// end. Whoever looks at a shared mapping after its writer was killed in a memcpy may find a hole in
// front of what was stored. CopyAscending leaves no hole: wherever it ends, what it has stored is
// the beginning of `from`.
//
// Threads   one; it orders nothing for another thread.
// Cost      a store for each 8 bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

namespace weft::base {

// The two do not overlap.
inline void CopyAscending(char* to, const char* from, size_t bytes) {
  constexpr size_t kWord = sizeof(uint64_t);
  const auto copy = [&](size_t n) {
    std::memcpy(to, from, n);  // of a constant size: one store
    // No store moves over this, nor is the loop taken for a memcpy.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    to += n;
    from += n;
    bytes -= n;
  };
  // A store that is aligned is done or not, wherever a page begins.
  while (bytes > 0 && reinterpret_cast<uintptr_t>(to) % kWord != 0) copy(1);
  while (bytes >= kWord) copy(kWord);
  while (bytes > 0) copy(1);
}

}  // namespace weft::base
