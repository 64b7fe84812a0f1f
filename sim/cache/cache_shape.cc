#include "sim/cache/cache_shape.h"

#include <bit>
#include <string>

namespace weft::sim {

Status Validate(const CacheShape& shape, int banks, const char* name) {
  const auto is_wrong = [&](const std::string& what) {
    return Status(Code::kInvalidArgument, std::string(name) + ": " + what);
  };
  if (shape.ways < 1 || shape.kilobytes < 1 || shape.mshrs < 1 || banks < 1) {
    return is_wrong("its size, ways, banks and MSHRs must be at least 1");
  }
  const auto lines = static_cast<uint64_t>(shape.kilobytes * 1024 / CacheShape::kLineBytes);
  const auto parts = static_cast<uint64_t>(shape.ways) * static_cast<uint64_t>(banks);
  if (lines % parts != 0 || !std::has_single_bit(lines / parts)) {
    return is_wrong(std::to_string(shape.kilobytes) + " KB of " + std::to_string(shape.ways) +
                    " ways in " + std::to_string(banks) +
                    " banks: the sets of a bank are not a power of two");
  }
  return Status::Ok();
}

}  // namespace weft::sim
