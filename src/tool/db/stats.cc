// weft db stats: what a store is made of.
#include <array>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>

#include "lsm/close_mark.h"
#include "lsm/file_names.h"
#include "lsm/foreign_store.h"
#include "lsm/limits.h"
#include "lsm/manifest.h"
#include "table/block.h"
#include "table/internal_key.h"
#include "table/table_file.h"
#include "tool/db/commands.h"
#include "tool/db/store_flags.h"

namespace weft::tool {

namespace {

struct LevelStats {
  uint64_t tables = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t block_bytes = 0;  // as stored
  // Only where all was read.
  uint64_t unpacked_bytes = 0;
  uint64_t values = 0;
  uint64_t deletions = 0;

  void Add(const LevelStats& other) {
    tables += other.tables;
    bytes += other.bytes;
    blocks += other.blocks;
    block_bytes += other.block_bytes;
    unpacked_bytes += other.unpacked_bytes;
    values += other.values;
    deletions += other.deletions;
  }
};

struct StoreStats {
  uint64_t manifest_number = 0;
  uint64_t manifest_bytes = 0;
  uint64_t last_sequence = 0;
  uint64_t next_file = 0;
  uint64_t log_number = 0;
  uint64_t logs = 0;
  uint64_t log_bytes = 0;
  std::array<LevelStats, lsm::kLevels> levels;
};

class StatsTaker {
 public:
  StatsTaker(const Console& console, const DbOptions& options, std::string dir, bool full)
      : console_(console), options_(options), dir_(std::move(dir)), full_(full) {}

  Status Run() {
    Status ours = lsm::CheckIsNotRocksDb(options_.file_system, dir_);
    if (!ours.ok()) return ours;
    auto number = lsm::ReadCurrentFile(options_.file_system, dir_);
    if (!number) return number.error();
    const std::string path = lsm::ManifestFileName(dir_, *number);
    auto file = options_.file_system->NewSequentialFile(path);
    if (!file && file.error().code() == Code::kNotFound) {
      return {Code::kCorruption, path + ", which CURRENT names, is missing"};
    }
    if (!file) return file.error();
    auto state = lsm::ReadManifest(file->get(), path);
    if (!state) return state.error();
    auto mark = lsm::FindCloseMark(options_.file_system, dir_, *number, *state);
    if (!mark) return mark.error();
    stats_.manifest_number = *number;
    stats_.manifest_bytes = state->file_bytes;
    stats_.last_sequence = *state->edit.last_sequence;
    stats_.next_file = *state->edit.next_file_number;
    stats_.log_number = *state->edit.log_number;
    if (Status status = TakeLogs(); !status.ok()) return status;
    return TakeTables(state->edit.new_files);
  }
  const StoreStats& stats() const { return stats_; }

 private:
  Status TakeLogs() {
    std::vector<std::string> names;
    if (Status status = options_.file_system->GetChildren(dir_, &names); !status.ok()) {
      return status;
    }
    for (const std::string& name : names) {
      lsm::ParsedFileName parsed;
      if (!lsm::ParseFileName(name, &parsed) || parsed.type != lsm::FileType::kLog) continue;
      auto bytes = options_.file_system->GetFileSize(dir_ + "/" + name);
      if (!bytes) return bytes.error();
      stats_.logs++;
      stats_.log_bytes += *bytes;
    }
    return {};
  }

  Status TakeTables(const std::vector<lsm::NewFile>& files) {
    uint64_t total = 0;
    uint64_t done = 0;
    for (const lsm::NewFile& file : files) total += file.bytes;
    Progress progress(console_.err, "stats");
    for (const lsm::NewFile& file : files) {
      auto path_of = PathOf(file.number);
      if (!path_of) return path_of.error();
      const std::string& path = *path_of;
      progress.At(done, total, path);
      LevelStats& level = stats_.levels[static_cast<size_t>(file.level)];
      level.tables++;
      level.bytes += file.bytes;
      if (Status status = TakeTable(path, file.bytes, &level); !status.ok()) return status;
      done += file.bytes;
    }
    return {};
  }

  // kCorruption where the table is missing, by the name that it has unless LevelDB gave it another.
  Result<std::string> PathOf(uint64_t table) const {
    const std::string path = lsm::TableFileName(dir_, table);
    if (options_.file_system->FileExists(path)) return path;
    const std::string old = lsm::OldTableFileName(dir_, table);
    if (options_.file_system->FileExists(old)) return old;
    return Status(Code::kCorruption, path + ": the manifest names it, but it is missing");
  }

  // `bytes`: as the manifest says. What stands behind them is none of the table.
  Status TakeTable(const std::string& path, uint64_t bytes, LevelStats* level) const {
    auto table = table::TableFile::Open(options_.file_system, path, bytes);
    if (!table) return table.error();
    auto blocks = (*table)->ReadHandles((*table)->footer().index);
    if (!blocks) return blocks.error();
    for (const auto& [separator, handle] : *blocks) {
      level->blocks++;
      level->block_bytes += handle.bytes;
      if (!full_) continue;
      auto block = (*table)->Read(handle);
      if (!block) return block.error();
      TakeBlock(block->contents.data, level);
    }
    return {};
  }

  static void TakeBlock(std::string_view data, LevelStats* level) {
    level->unpacked_bytes += data.size();
    table::BlockIterator entries(BytewiseComparator(), data);
    for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
      table::ParsedKey parsed;
      if (!table::ParseInternalKey(entries.key(), &parsed)) continue;
      (parsed.type == table::ValueType::kValue ? level->values : level->deletions)++;
    }
  }

  const Console& console_;
  const DbOptions& options_;
  const std::string dir_;
  const bool full_;
  StoreStats stats_;
};

std::string LevelJson(const LevelStats& level, bool full) {
  std::ostringstream json;
  json << "\"tables\": " << level.tables << ", \"bytes\": " << level.bytes
       << ", \"blocks\": " << level.blocks << ", \"block_bytes\": " << level.block_bytes;
  if (full) {
    json << ", \"unpacked_bytes\": " << level.unpacked_bytes << ", \"values\": " << level.values
         << ", \"deletions\": " << level.deletions;
  }
  return json.str();
}

void PrintStatsJson(std::ostream& out, const StoreStats& stats, bool full) {
  out << "{\"last_sequence\": " << stats.last_sequence << ", \"next_file\": " << stats.next_file
      << ", \"manifest\": " << stats.manifest_number
      << ", \"manifest_bytes\": " << stats.manifest_bytes << ", \"log\": " << stats.log_number
      << ", \"logs\": " << stats.logs << ", \"log_bytes\": " << stats.log_bytes
      << ", \"levels\": [";
  for (size_t i = 0; i < stats.levels.size(); i++) {
    out << (i > 0 ? ", " : "") << "{\"level\": " << i << ", " << LevelJson(stats.levels[i], full)
        << '}';
  }
  out << "]}\n";
}

void PrintLevel(std::ostream& out, const std::string& name, const LevelStats& level, bool full) {
  out << std::setw(5) << name << std::setw(8) << level.tables << std::setw(12)
      << BytesText(level.bytes) << std::setw(10) << level.blocks;
  if (full) {
    const double ratio = level.block_bytes == 0 ? 1.0
                                                : static_cast<double>(level.unpacked_bytes) /
                                                      static_cast<double>(level.block_bytes);
    out << std::setw(12) << level.values << std::setw(12) << level.deletions << std::setw(8)
        << std::fixed << std::setprecision(2) << ratio;
  }
  out << '\n';
}

void PrintText(std::ostream& out, const StoreStats& stats, bool full) {
  out << "level  tables       bytes    blocks";
  out << (full ? "      values   deletions   ratio\n" : "\n");
  LevelStats sum;
  for (size_t i = 0; i < stats.levels.size(); i++) {
    if (stats.levels[i].tables > 0) PrintLevel(out, std::to_string(i), stats.levels[i], full);
    sum.Add(stats.levels[i]);
  }
  PrintLevel(out, "all", sum, full);
  out << "last sequence: " << stats.last_sequence << '\n'
      << "logs: " << stats.logs << " of " << BytesText(stats.log_bytes) << '\n'
      << "manifest: number " << stats.manifest_number << ", " << BytesText(stats.manifest_bytes)
      << '\n';
}

struct Stats {
  StoreFlags store;
  bool full = false;
  bool json = false;

  Exit Run(const Console& console) const {
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    StatsTaker taker(console, *options, store.dir(), full);
    if (Status status = taker.Run(); !status.ok()) return Fail(console, status);
    if (json) {
      PrintStatsJson(console.out, taker.stats(), full);
    } else {
      PrintText(console.out, taker.stats(), full);
    }
    return Exit::kOk;
  }
};

}  // namespace

Action DeclareStats(Arguments* arguments) {
  const auto stats = std::make_shared<Stats>();
  stats->store.AddTo(arguments, false);
  arguments->AddFlag("--full",
                     "read all tables to count values and deletions, and measure compression",
                     &stats->full);
  arguments->AddFlag("--json", "as JSON", &stats->json);
  return [stats](const Console& console) { return stats->Run(console); };
}

}  // namespace weft::tool
