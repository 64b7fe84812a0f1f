#include "sim/record/workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/random.h"

namespace weft::sim {
namespace {

constexpr double kUnitSteps = 0x1p53;

double UnitOf(uint64_t bits) { return static_cast<double>(bits >> 11) / kUnitSteps; }

bool IsShare(double share) { return share >= 0 && share <= 1; }

}  // namespace

Result<std::vector<ValueClass>> ParseValues(std::string_view text) {
  std::vector<ValueClass> classes;
  for (std::string_view rest = text; classes.empty() || !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    const size_t colon = part.find(':');
    ValueClass each{.bytes = 0, .share = 1};
    const bool is_right =
        base::ParseNumber(part.substr(0, colon), &each.bytes) &&
        (colon == part.npos || base::ParseFinite(part.substr(colon + 1), &each.share));
    if (!is_right || (comma + 1 == rest.size())) {
      return Status(Code::kInvalidArgument,
                    fmt::format("values: '{}' is not of the form 128 or 128:70,256:30", text));
    }
    classes.push_back(each);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return classes;
}

StoreWorkload::StoreWorkload(const StoreWorkloadOptions& options) : options_(options) {
  for (const ValueClass& each : options_.values) {
    shares_ += each.share;
    value_bytes_max_ = std::max(value_bytes_max_, each.bytes);
  }
  if (options_.zipf_theta > 0) zipf_.emplace(options_.ids, options_.zipf_theta);
}

Result<StoreWorkload> StoreWorkload::Make(const StoreWorkloadOptions& options) {
  const auto refuse = [](std::string why) {
    return Status(Code::kInvalidArgument, std::move(why));
  };
  if (options.ids < 2 || options.ids > UINT32_MAX)
    return refuse(fmt::format("records: {} is not from 2 to {}", options.ids, UINT32_MAX));
  if (options.key_bytes < kKeyBytesMin || options.key_bytes > kKeyBytesMax)
    return refuse(fmt::format("key bytes: {} is not from {} to {}", options.key_bytes, kKeyBytesMin,
                              kKeyBytesMax));
  double shares = 0;
  for (const ValueClass& each : options.values) {
    if (each.bytes > kValueBytesMax)
      return refuse(fmt::format("values: {} is above {} bytes", each.bytes, kValueBytesMax));
    if (!(each.share >= 0 && std::isfinite(each.share)))
      return refuse(fmt::format("values: a share of {}", each.share));
    shares += each.share;
  }
  if (!(shares > 0)) return refuse("values: no size has a share");
  if (!IsShare(options.get_share) || !IsShare(options.miss_share))
    return refuse("a share of the queries must be from 0 to 1");
  if (!(options.zipf_theta >= 0 && options.zipf_theta < 1))
    return refuse(fmt::format("zipf: {} is not from 0 to less than 1", options.zipf_theta));
  return StoreWorkload(options);
}

void StoreWorkload::WriteKey(uint64_t id, std::string* key) const {
  key->assign(options_.key_bytes, 'k');
  for (size_t digit = 0; digit < kKeyBytesMin; ++digit, id >>= 4)
    (*key)[digit] = "0123456789abcdef"[id & 15];
}

uint32_t StoreWorkload::ValueBytesOf(uint64_t id) const {
  double at = UnitOf(base::Mix(id + base::Mix(options_.seed + 1))) * shares_;
  for (const ValueClass& each : options_.values) {
    if (at < each.share) return each.bytes;
    at -= each.share;
  }
  return options_.values.back().bytes;
}

void StoreWorkload::WriteValue(uint64_t id, std::string* value) const {
  value->resize(ValueBytesOf(id));
  for (size_t at = 0; at < value->size(); at += 8) {
    const uint64_t word = base::Mix(id + at);
    std::memcpy(value->data() + at, &word, std::min<size_t>(8, value->size() - at));
  }
}

StoreWorkload::Queries::Queries(const StoreWorkload* workload, int core)
    : workload_(workload),
      random_(base::Mix(workload->options().seed + (static_cast<uint64_t>(core) << 32))) {}

double StoreWorkload::Queries::Unit() { return UnitOf(random_()); }

StoreWorkload::Query StoreWorkload::Queries::Draw() {
  const StoreWorkloadOptions& options = workload_->options_;
  Query query;
  query.is_get = Unit() < options.get_share;
  const std::optional<base::Zipf>& zipf = workload_->zipf_;
  query.id = zipf ? zipf->Scramble(zipf->Rank(Unit()))
                  : static_cast<uint64_t>(Unit() * static_cast<double>(options.ids));
  if (query.is_get && options.miss_share > 0 && Unit() < options.miss_share)
    query.id += options.ids;
  return query;
}

}  // namespace weft::sim
