#include "compaction/key_bounds.h"

#include <algorithm>

namespace weft::compaction {

UserKeyRange RangeOfJob(const Job& job) {
  UserKeyRange range;
  if (job.first_user_key.has_value()) range.first = *job.first_user_key;
  if (job.end_user_key.has_value()) range.end = *job.end_user_key;
  return range;
}

uint64_t BytesOfJob(const Job& job) {
  uint64_t bytes = 0;
  for (const auto& run : job.runs) {
    for (const JobTable& table : run) bytes += table.bytes;
  }
  return bytes;
}

std::vector<std::string> FindKeyBounds(const Job& job, std::vector<KeyStretch> stretches,
                                       uint64_t parts_max, uint64_t part_bytes_min) {
  const auto& order = *job.comparator;
  std::sort(stretches.begin(), stretches.end(), [&](const KeyStretch& a, const KeyStretch& b) {
    return order.CompareUser(a.user_key, b.user_key) < 0;
  });
  uint64_t total = 0;
  for (const KeyStretch& stretch : stretches) total += stretch.bytes;
  const uint64_t parts = std::min(parts_max, total / part_bytes_min);
  std::vector<std::string> bounds;
  uint64_t passed = 0;
  for (const KeyStretch& stretch : stretches) {
    passed += stretch.bytes;
    if (bounds.size() + 1 >= parts) break;
    if (passed < total * (bounds.size() + 1) / parts) continue;
    const bool beyond =
        job.end_user_key.has_value() && order.CompareUser(stretch.user_key, *job.end_user_key) >= 0;
    if (beyond || (!bounds.empty() && order.CompareUser(stretch.user_key, bounds.back()) <= 0)) {
      continue;
    }
    bounds.push_back(stretch.user_key);
  }
  return bounds;
}

}  // namespace weft::compaction
