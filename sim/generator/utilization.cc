#include "sim/generator/utilization.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sim/generator/ramcloud_format.h"

namespace weft::sim {

Result<Utilization> ParseUtilization(std::string_view text) {
  constexpr std::string_view kExact = "exact:";
  constexpr std::string_view kPoisson = "poisson:";
  if (text == "natural") return Utilization{};
  if (text.starts_with(kExact)) {
    int objects = 0;
    if (base::ParseNumber(text.substr(kExact.size()), &objects) && objects >= 1 &&
        objects <= kSlotsPerBucket) {
      return Utilization{Utilization::Kind::kExact, static_cast<double>(objects)};
    }
    return Status(Code::kInvalidArgument,
                  fmt::format("utilization '{}': 1 to {} objects", text, kSlotsPerBucket));
  }
  if (text.starts_with(kPoisson)) {
    double objects = 0;
    if (base::ParseFinite(text.substr(kPoisson.size()), &objects) && objects > 0 &&
        objects <= kObjectsPerBucketMax) {
      return Utilization{Utilization::Kind::kPoisson, objects};
    }
    return Status(Code::kInvalidArgument,
                  fmt::format("utilization '{}': more than 0 and up to {} objects a bucket", text,
                              kObjectsPerBucketMax));
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("utilization '{}' is not one of exact:K, poisson:LAMBDA, natural", text));
}

}  // namespace weft::sim
