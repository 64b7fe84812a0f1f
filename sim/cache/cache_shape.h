// sim/cache/cache_shape.h: how large a cache is.
//
// Threads   values.
// Errors    kInvalidArgument: the sets are no power of two, or there is nothing to keep misses in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/status.h"

namespace weft::sim {

struct CacheShape {
  int64_t kilobytes = 0;
  int ways = 0;
  int mshrs = 0;  // misses under way, each of another line; of each bank if there are several

  static constexpr int64_t kLineBytes = 64;
  int64_t lines() const { return kilobytes * 1024 / kLineBytes; }
  size_t sets() const { return static_cast<size_t>(lines() / ways); }
};

// The sets are divided equally among `banks`. `name` is for messages.
Status Validate(const CacheShape& shape, int banks, const char* name);

}  // namespace weft::sim
