#include "sim/dram/organization.h"

#include <bit>
#include <string>

namespace weft::sim {
namespace {

Status CheckCount(const char* what, int64_t count, int64_t count_max) {
  if (count > 0 && std::has_single_bit(static_cast<uint64_t>(count)) && count <= count_max) {
    return Status::Ok();
  }
  return {Code::kInvalidArgument, std::string(what) + ": " + std::to_string(count) +
                                      " is not a power of two from 1 to " +
                                      std::to_string(count_max)};
}

}  // namespace

Status Validate(const Organization& organization) {
  const struct {
    const char* what;
    int64_t count;
    int64_t count_max;
  } counts[] = {
      {"channels", static_cast<int64_t>(organization.channels), 64},
      {"ranks", static_cast<int64_t>(organization.ranks), 16},
      {"bank groups", static_cast<int64_t>(organization.bank_groups), 64},
      {"banks of a rank", static_cast<int64_t>(organization.banks()), 64},
      {"rows", organization.rows, int64_t{1} << 30},
      {"lines of a row", organization.lines_per_row(), int64_t{1} << 16},
      {"bursts of a line", static_cast<int64_t>(organization.bursts_per_line()), 8},
  };
  for (const auto& [what, count, count_max] : counts) {
    Status status = CheckCount(what, count, count_max);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace weft::sim
