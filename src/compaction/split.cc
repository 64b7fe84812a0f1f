// Divides a job by ranges of user keys, at separators of its tables' index blocks.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/job.h"
#include "compaction/table_input.h"

namespace weft::compaction {

namespace {

// Less is not worth a thread, nor the smaller tables at the parts' ends.
constexpr uint64_t kPartBytesMin = 256u << 10;

// A block of some table: the user keys of its block are not above this one.
struct Block {
  std::string user_key;
  uint64_t bytes;
};

UserKeyRange RangeOf(const Job& job) {
  UserKeyRange range;
  if (job.first_user_key.has_value()) range.first = *job.first_user_key;
  if (job.end_user_key.has_value()) range.end = *job.end_user_key;
  return range;
}

Status AppendBlocks(const Job& job, const JobTable& table, std::vector<Block>* blocks) {
  Result<std::unique_ptr<TableInput>> input = TableInput::Open(job, table, RangeOf(job));
  if (!input) return input.error();
  table::BlockHandle handle;
  for (;;) {
    Result<bool> more = (*input)->NextHandle(&handle);
    if (!more) return more.error();
    if (!*more) return Status::Ok();
    const std::string_view separator = (*input)->separator();
    if (separator.size() < table::kTrailerBytes) continue;
    blocks->push_back({std::string(table::UserKey(separator)), handle.bytes});
  }
}

// Where parts end, ascending, none of them twice.
std::vector<std::string> FindBounds(const Job& job, std::vector<Block> blocks, int parts_max) {
  const auto& order = *job.comparator;
  std::sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
    return order.CompareUser(a.user_key, b.user_key) < 0;
  });
  uint64_t total = 0;
  for (const Block& block : blocks) total += block.bytes;
  const uint64_t parts =
      std::min<uint64_t>(static_cast<uint64_t>(std::max(parts_max, 1)), total / kPartBytesMin);
  std::vector<std::string> bounds;
  uint64_t passed = 0;
  for (const Block& block : blocks) {
    passed += block.bytes;
    if (bounds.size() + 1 >= parts) break;
    if (passed < total * (bounds.size() + 1) / parts) continue;
    const bool beyond =
        job.end_user_key.has_value() && order.CompareUser(block.user_key, *job.end_user_key) >= 0;
    if (beyond || (!bounds.empty() && order.CompareUser(block.user_key, bounds.back()) <= 0)) {
      continue;
    }
    bounds.push_back(block.user_key);
  }
  return bounds;
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
  std::vector<Block> blocks;
  if (parts_max > 1) {
    for (const auto& run : job.runs) {
      for (const JobTable& table : run) {
        Status status = AppendBlocks(job, table, &blocks);
        if (!status.ok()) return status;
      }
    }
  }
  const std::vector<std::string> bounds = FindBounds(job, std::move(blocks), parts_max);
  std::vector<Job> parts;
  for (size_t i = 0; i <= bounds.size(); i++) {
    parts.push_back(
        PartOf(job, i == 0 ? nullptr : &bounds[i - 1], i == bounds.size() ? nullptr : &bounds[i]));
  }
  return parts;
}

}  // namespace weft::compaction
