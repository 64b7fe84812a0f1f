// What the store tells of itself: properties, statistics, sizes of ranges.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/parse_number.h"
#include "lsm/db_impl.h"

namespace weft::lsm {

namespace {

constexpr double kBytesPerMiB = 1048576.0;

void AppendLine(std::string* text, std::string_view name, uint64_t value) {
  text->append(name).append(" ").append(std::to_string(value)).append("\n");
}

std::string StatisticsText(const DbStatistics& s) {
  std::string text;
  AppendLine(&text, "gets", s.gets);
  AppendLine(&text, "gets_found", s.gets_found);
  AppendLine(&text, "writes", s.writes);
  AppendLine(&text, "keys_written", s.keys_written);
  AppendLine(&text, "bytes_written", s.bytes_written);
  AppendLine(&text, "iterators", s.iterators);
  AppendLine(&text, "filters_asked", s.filters_asked);
  AppendLine(&text, "filters_useful", s.filters_useful);
  AppendLine(&text, "blocks_read", s.blocks_read);
  AppendLine(&text, "block_cache_hits", s.block_cache_hits);
  AppendLine(&text, "block_cache_misses", s.block_cache_misses);
  AppendLine(&text, "log_bytes", s.log_bytes);
  AppendLine(&text, "log_syncs", s.log_syncs);
  AppendLine(&text, "flushes", s.flushes);
  AppendLine(&text, "flush_bytes", s.flush_bytes);
  AppendLine(&text, "compactions", s.compactions);
  AppendLine(&text, "trivial_moves", s.trivial_moves);
  AppendLine(&text, "compaction_bytes_read", s.compaction_bytes_read);
  AppendLine(&text, "compaction_bytes_written", s.compaction_bytes_written);
  AppendLine(&text, "compaction_keys_read", s.compaction_keys_read);
  AppendLine(&text, "compaction_keys_dropped", s.compaction_keys_dropped);
  AppendLine(&text, "compaction_keys_ended", s.compaction_keys_ended);
  AppendLine(&text, "compaction_keys_unparsed", s.compaction_keys_unparsed);
  AppendLine(&text, "compaction_us", s.compaction_us);
  AppendLine(&text, "compaction_failures", s.compaction_failures);
  AppendLine(&text, "compactions_by_device", s.compactions_by_device);
  AppendLine(&text, "compactions_left_to_cpu", s.compactions_left_to_cpu);
  AppendLine(&text, "slowdowns", s.slowdowns);
  AppendLine(&text, "slowdown_us", s.slowdown_us);
  AppendLine(&text, "stops", s.stops);
  AppendLine(&text, "stop_us", s.stop_us);
  AppendLine(&text, "memtable_bytes", s.memtable_bytes);
  AppendLine(&text, "compaction_debt_bytes", s.compaction_debt_bytes);
  return text;
}

}  // namespace

bool DbImpl::GetProperty(std::string_view name, std::string* value) {
  std::string nobodys;
  if (value == nullptr) value = &nobodys;
  value->clear();
  if (name.starts_with("leveldb.")) {
    name.remove_prefix(8);
  } else if (name.starts_with("weft.")) {
    name.remove_prefix(5);
  } else {
    return false;
  }
  constexpr std::string_view kFilesAtLevel = "num-files-at-level";
  if (name.starts_with(kFilesAtLevel))
    return FilesAtLevel(name.substr(kFilesAtLevel.size()), value);
  if (name == "stats") {
    *value = LevelTable();
  } else if (name == "sstables") {
    *value = views_.Take()->version->DebugString();
  } else if (name == "approximate-memory-usage") {
    *value = std::to_string(options_.block_cache->TotalCharge() + MemTableBytes());
  } else if (name == "statistics") {
    *value = StatisticsText(Statistics());
  } else {
    return false;
  }
  return true;
}

bool DbImpl::FilesAtLevel(std::string_view digits, std::string* value) const {
  int level = -1;
  if (!base::ParseNumber(digits, &level) || level < 0 || level >= kLevels) return false;
  *value = std::to_string(views_.Take()->version->level(level).size());
  return true;
}

std::string DbImpl::LevelTable() const {
  std::string text =
      "                               Compactions\n"
      "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
      "--------------------------------------------------\n";
  base::MutexLock lock(&mutex_);
  const VersionRef version = versions_->current();
  for (int level = 0; level < kLevels; level++) {
    const LevelStatistics& done = level_statistics_[static_cast<size_t>(level)];
    const Level& tables = version->level(level);
    if (done.us == 0 && tables.empty()) continue;
    char line[200];
    std::snprintf(line, sizeof line, "%3d %8zu %8.0f %9.0f %8.0f %9.0f\n", level, tables.size(),
                  static_cast<double>(tables.bytes()) / kBytesPerMiB,
                  static_cast<double>(done.us) / 1e6,
                  static_cast<double>(done.bytes_read) / kBytesPerMiB,
                  static_cast<double>(done.bytes_written) / kBytesPerMiB);
    text.append(line);
  }
  return text;
}

uint64_t DbImpl::MemTableBytes() const {
  const ReadViews::Pointer view = views_.Take();
  uint64_t bytes = view->active->MemoryUsage();
  for (const auto& each : view->immutable) bytes += each->MemoryUsage();
  return bytes;
}

DbStatistics DbImpl::Statistics() const {
  DbStatistics statistics;
  statistics_.FillIn(&statistics);
  statistics.log_bytes = log_.appended();
  statistics.memtable_bytes = MemTableBytes();
  base::MutexLock lock(&mutex_);
  statistics.compaction_debt_bytes = picker_->targets().DebtBytes(*versions_->current());
  return statistics;
}

void DbImpl::GetApproximateSizes(std::span<const KeyRange> ranges, std::span<uint64_t> bytes) {
  WEFT_CHECK(bytes.size() >= ranges.size());
  const VersionRef version = views_.Take()->version;
  for (size_t i = 0; i < ranges.size(); i++) {
    const LookupKey start(ranges[i].start, table::kSequenceMax);
    const LookupKey limit(ranges[i].limit, table::kSequenceMax);
    const uint64_t from = version->ApproximateOffsetOf(start.internal_key());
    const uint64_t to = version->ApproximateOffsetOf(limit.internal_key());
    bytes[i] = to > from ? to - from : 0;
  }
}

}  // namespace weft::lsm
