#include "planner/profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace weft::planner {
namespace {

constexpr double kZipfOfSkewed = 0.99;  // YCSB's, which paper 000 uses

constexpr double kLooksMoved = 0.1;  // a query: fewer cost less than what chance does

struct DataSet {
  std::string_view name;
  double key_bytes, value_bytes;
};
// Paper 000, section V-A.
constexpr std::array<DataSet, 4> kDataSets = {
    {{"K8", 8, 8}, {"K16", 16, 64}, {"K32", 32, 256}, {"K128", 128, 1024}}};

// Of a share that was counted over `count` queries.
double Deviation(double share, double count) {
  if (count <= 0) return 0;
  // None of a few may be one of twice as many.
  const double likely = (share * count + 1) / (count + 2);
  return std::sqrt(likely * (1 - likely) / count);
}

bool HasShareMoved(double from, double to, double from_count, double to_count, double threshold) {
  const double chance = std::hypot(Deviation(from, from_count), Deviation(to, to_count));
  const double change = std::abs(to - from);
  return change > threshold * std::max(from, to) && change > kChanceDeviations * chance;
}

bool HasMeanMoved(double from, double to, double threshold) {
  return std::abs(to - from) > threshold * std::max(from, to);
}

bool ParsePercent(std::string_view text, double* share) {
  uint32_t percent = 0;
  if (!base::ParseNumber(text, &percent) || percent > 100) return false;
  *share = percent / 100.0;
  return true;
}

}  // namespace

bool HasMoved(const Profile& from, const Profile& to, double threshold) {
  return !WhatMoved(from, to, threshold).empty();
}

std::string WhatMoved(const Profile& from, const Profile& to, double threshold) {
  std::string text;
  const auto add = [&text](const char* name, double before, double after, int digits) {
    text += fmt::format("{}{} {:.{}f} to {:.{}f}", text.empty() ? "" : ", ", name, before, digits,
                        after, digits);
  };
  const auto share = [&](const char* name, double before, double after, double of_from,
                         double of_to) {
    if (HasShareMoved(before, after, of_from, of_to, threshold)) add(name, before, after, 2);
  };
  share("GET share", from.get_share, to.get_share, from.counted, to.counted);
  // One of these says it.
  if (text.empty())
    share("SET share", from.store_share(), to.store_share(), from.counted, to.counted);
  share("DELETE share", from.delete_share, to.delete_share, from.counted, to.counted);
  share("hit share", from.hit_share, to.hit_share, from.counted * from.get_share,
        to.counted * to.get_share);
  const auto mean = [&](const char* name, double before, double after, double by) {
    if (HasMeanMoved(before, after, by)) add(name, before, after, 1);
  };
  mean("key bytes", from.key_bytes, to.key_bytes, threshold);
  mean("value bytes", from.value_bytes, to.value_bytes, threshold);
  mean("objects", from.objects, to.objects, threshold);
  mean("queries of a batch", from.batch_queries, to.batch_queries, 3 * threshold);
  const double looks =
      std::abs(to.looks_per_store * to.store_share() - from.looks_per_store * from.store_share());
  if (looks > kLooksMoved && HasMeanMoved(from.looks_per_store, to.looks_per_store, threshold))
    add("looks at victims a store", from.looks_per_store, to.looks_per_store, 1);
  // An exponent is an estimate, and one below a half hardly matters to any cache.
  if (std::abs(to.zipf - from.zipf) > std::max(threshold * std::max(from.zipf, to.zipf), 0.15))
    add("Zipf exponent", from.zipf, to.zipf, 2);
  return text;
}

Result<Profile> ProfileOfWorkload(std::string_view name) {
  const Status bad(Code::kInvalidArgument,
                   fmt::format("'{}' is not a workload such as K16-G95-S: K8, K16, K32 or K128; G0 "
                               "to G100; U or S",
                               name));
  const size_t first = name.find('-');
  const size_t last = name.rfind('-');
  if (first == std::string_view::npos || first == last) return bad;
  const std::string_view set = name.substr(0, first);
  const std::string_view share = name.substr(first + 1, last - first - 1);
  const std::string_view skew = name.substr(last + 1);
  Profile profile;
  const auto data = std::find_if(kDataSets.begin(), kDataSets.end(),
                                 [set](const DataSet& each) { return each.name == set; });
  if (data == kDataSets.end() || (skew != "U" && skew != "S")) return bad;
  if (share.empty() || share[0] != 'G' || !ParsePercent(share.substr(1), &profile.get_share))
    return bad;
  profile.key_bytes = data->key_bytes;
  profile.value_bytes = data->value_bytes;
  profile.zipf = skew == "S" ? kZipfOfSkewed : 0;
  return profile;
}

std::string Describe(const Profile& profile) {
  return fmt::format(
      "{:.1f} % GET, {:.1f} % SET, {:.1f} % DELETE, {:.1f} % of GETs hit; keys of {:.0f} bytes, "
      "values of {:.0f}; {}; {:.3g} objects",
      100 * profile.get_share, 100 * profile.store_share(), 100 * profile.delete_share,
      100 * profile.hit_share, profile.key_bytes, profile.value_bytes,
      profile.zipf == 0 ? std::string("uniform")
                        : fmt::format("Zipf, exponent {:.2f}", profile.zipf),
      profile.objects);
}

}  // namespace weft::planner
