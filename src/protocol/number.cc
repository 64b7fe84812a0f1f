#include "protocol/number.h"

#include <limits>

#include "base/decimal.h"

namespace weft::protocol::internal {

bool ParseAnyU64(std::string_view token, uint64_t* number) {
  base::Decimal decimal;
  if (!base::ReadUnsigned(token, &decimal)) return false;
  *number = decimal.Wrapped();
  return true;
}

bool ParseAnyI32(std::string_view token, int32_t* number) {
  base::Decimal decimal;
  if (!base::ReadDecimal(token, &decimal)) return false;
  constexpr uint64_t kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (decimal.magnitude > kMost + (decimal.negative ? 1 : 0)) return false;
  *number = static_cast<int32_t>(static_cast<uint32_t>(decimal.Wrapped()));
  return true;
}

}  // namespace weft::protocol::internal
