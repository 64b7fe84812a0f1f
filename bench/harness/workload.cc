#include "bench/harness/workload.h"

#include <charconv>

#include "bench/defaults.h"

namespace weft::bench {
namespace {

struct DataSet {
  std::string_view name;
  uint32_t key_bytes;
  uint32_t value_bytes;
};
constexpr DataSet kDataSets[] = {{"K8", 8, 8}, {"K16", 16, 64}, {"K32", 32, 256},
                                 {"K128", 128, 1024}};

bool ParseShare(std::string_view text, double* share) {
  if (text.empty() || text[0] != 'G') return false;
  int percent = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, percent);
  if (error != std::errc() || stop != end || percent < 0 || percent > 100) return false;
  *share = percent / 100.0;
  return true;
}

}  // namespace

Result<Workload> ParseWorkload(std::string_view name) {
  const Status bad(Code::kInvalidArgument, "no workload: " + std::string(name));
  const size_t first = name.find('-');
  const size_t last = name.rfind('-');
  if (first == std::string_view::npos || first == last) return bad;
  const auto set = name.substr(0, first);
  const auto skew = name.substr(last + 1);
  Workload workload;
  workload.name = name;
  if (!ParseShare(name.substr(first + 1, last - first - 1), &workload.get_share)) return bad;
  if (skew != "U" && skew != "S") return bad;
  workload.zipf = skew == "S";
  for (const DataSet& data : kDataSets) {
    if (data.name != set) continue;
    workload.key_bytes = data.key_bytes;
    workload.value_bytes = data.value_bytes;
    return workload;
  }
  return bad;
}

KeyPicker::KeyPicker(uint64_t keys, bool zipf)
    : keys_(keys),
      zipf_(zipf ? std::make_unique<base::Zipf>(keys, defaults::kZipfTheta) : nullptr) {}

}  // namespace weft::bench
