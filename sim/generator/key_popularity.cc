#include "sim/generator/key_popularity.h"

#include <string>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/zipf_sampler.h"

namespace weft::sim {

Result<KeyPopularity> ParseKeyPopularity(std::string_view text) {
  using Law = KeyPopularity::Law;
  constexpr std::string_view kZipf = "zipf:";
  constexpr std::string_view kLatest = "latest";
  if (text == "uniform") return KeyPopularity{};
  if (text == kLatest) return KeyPopularity{Law::kLatest, 0.99};
  KeyPopularity popularity;
  std::string_view theta;
  if (text.starts_with(kZipf)) {
    popularity.law = Law::kZipf;
    theta = text.substr(kZipf.size());
  } else if (text.starts_with(kLatest) && text[kLatest.size()] == ':') {
    popularity.law = Law::kLatest;
    theta = text.substr(kLatest.size() + 1);
  } else {
    return Status(
        Code::kInvalidArgument,
        fmt::format("popularity '{}' is not one of uniform, zipf:THETA, latest, latest:THETA",
                    text));
  }
  if (!base::ParseFinite(theta, &popularity.theta) || !(popularity.theta >= base::kZipfThetaMin) ||
      !(popularity.theta <= base::kZipfThetaMax)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("popularity '{}': theta must be from {} to {}", text,
                              base::kZipfThetaMin, base::kZipfThetaMax));
  }
  return popularity;
}

}  // namespace weft::sim
