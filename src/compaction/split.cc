// Divides a job by ranges of user keys, at separators of its tables' index blocks.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/job.h"
#include "compaction/key_bounds.h"
#include "compaction/table_input.h"

namespace weft::compaction {

namespace {

// Less is not worth a thread, nor the smaller tables at the parts' ends.
constexpr uint64_t kPartBytesMin = 256u << 10;

// Of each part this many are looked at, so that parts differ by a hundredth or so. All blocks would
// take as long to sort as a tenth of them to merge.
constexpr uint64_t kStretchesInPart = 256;

// Divides the table's blocks into stretches of `bytes_min` or more, but for the last one.
Status AppendStretches(const Job& job, const JobTable& table, uint64_t bytes_min,
                       std::vector<KeyStretch>* stretches) {
  Result<std::unique_ptr<TableInput>> input = TableInput::Open(job, table, RangeOfJob(job));
  if (!input) return input.error();
  table::BlockHandle handle;
  std::string middle;
  uint64_t bytes = 0;
  for (;;) {
    Result<bool> more = (*input)->NextHandle(&handle);
    if (!more) return more.error();
    if (!*more) break;
    const bool before_middle = bytes < bytes_min / 2 || bytes == 0;
    const std::string_view separator = (*input)->separator();
    if (separator.size() < table::kTrailerBytes) continue;
    bytes += handle.bytes;
    if (before_middle) middle = table::UserKey(separator);
    if (bytes < bytes_min) continue;
    stretches->push_back({middle, bytes});
    bytes = 0;
  }
  if (bytes > 0) stretches->push_back({middle, bytes});
  return Status::Ok();
}

bool MayHoldKeysOf(const JobTable& table, const Job& part) {
  const auto& order = *part.comparator;
  if (table.smallest.size() < table::kTrailerBytes || table.largest.size() < table::kTrailerBytes) {
    return true;
  }
  if (part.first_user_key.has_value() &&
      order.CompareUser(table::UserKey(table.largest), *part.first_user_key) < 0) {
    return false;
  }
  return !part.end_user_key.has_value() ||
         order.CompareUser(table::UserKey(table.smallest), *part.end_user_key) < 0;
}

// The part between two bounds, with the tables that it needs.
Job PartOf(const Job& job, const std::string* first, const std::string* end) {
  Job part = job;
  if (first != nullptr) part.first_user_key = *first;
  if (end != nullptr) part.end_user_key = *end;
  for (auto& run : part.runs) {
    std::erase_if(run, [&](const JobTable& table) { return !MayHoldKeysOf(table, part); });
  }
  std::erase_if(part.runs, [](const auto& run) { return run.empty(); });
  return part;
}

}  // namespace

Result<std::vector<Job>> SplitJob(const Job& job, int parts_max) {
  std::vector<KeyStretch> stretches;
  if (parts_max > 1) {
    const uint64_t bytes_min =
        BytesOfJob(job) / (static_cast<uint64_t>(parts_max) * kStretchesInPart);
    for (const auto& run : job.runs) {
      for (const JobTable& table : run) {
        Status status = AppendStretches(job, table, bytes_min, &stretches);
        if (!status.ok()) return status;
      }
    }
  }
  const std::vector<std::string> bounds = FindKeyBounds(
      job, std::move(stretches), static_cast<uint64_t>(std::max(parts_max, 1)), kPartBytesMin);
  std::vector<Job> parts;
  for (size_t i = 0; i <= bounds.size(); i++) {
    parts.push_back(
        PartOf(job, i == 0 ? nullptr : &bounds[i - 1], i == bounds.size() ? nullptr : &bounds[i]));
  }
  for (Job& part : parts) part.is_part = parts.size() > 1;
  return parts;
}

}  // namespace weft::compaction
