#include "bench/durable/merge_input.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "bench/durable/ledger.h"
#include "table/table_builder.h"

namespace weft::bench {
namespace {

using compaction::JobTable;
using table::MakeInternalKey;
using table::ValueType;

std::string InternalKeyOf(const char* user_key, uint64_t sequence, int type) {
  return MakeInternalKey(user_key, sequence, static_cast<ValueType>(type));
}

// One line of LevelDB's list: " 17:123['a' @ 5 : 1 .. 'd' @ 9 : 1]".
bool ParseTable(const std::string& line, const std::string& dir, JobTable* table) {
  char smallest[32], largest[32];
  uint64_t sequences[2];
  int types[2];
  if (std::sscanf(line.c_str(),
                  " %" SCNu64 ":%" SCNu64 "['%16[0-9a-f]' @ %" SCNu64
                  " : %d .. '%16[0-9a-f]' @ %" SCNu64 " : %d]",
                  &table->number, &table->bytes, smallest, &sequences[0], &types[0], largest,
                  &sequences[1], &types[1]) != 8)
    return false;
  table->path = fmt::format("{}/{:06}.ldb", dir, table->number);
  table->smallest = InternalKeyOf(smallest, sequences[0], types[0]);
  table->largest = InternalKeyOf(largest, sequences[1], types[1]);
  return true;
}

void Count(MergeInput* input) {
  for (const auto& run : input->runs) {
    input->tables += run.size();
    for (const JobTable& table : run) input->bytes += table.bytes;
  }
}

struct Write {
  uint32_t id;
  uint32_t version;
};

Result<JobTable> WriteRun(const std::string& path, uint64_t number,
                          const table::TableFormat& format, std::vector<Write>* writes,
                          const RecordFormat& records) {
  std::sort(writes->begin(), writes->end(), [](const Write& a, const Write& b) {
    return a.id != b.id ? a.id < b.id : a.version > b.version;
  });
  auto file = PosixFileSystem()->NewWritableFile(path, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format, file->get());
  std::string value(records.value_bytes_max(), '\0'), key;
  JobTable made;
  made.number = number;
  made.path = path;
  for (const Write& write : *writes) {
    records.WriteValue(write.id, write.version, value.data());
    key = MakeInternalKey(RecordKey(records, write.id), write.version + 1, ValueType::kValue);
    if (made.smallest.empty()) made.smallest = key;
    builder.Add(key, value);
  }
  made.largest = key;
  Status status = builder.Finish();
  if (status.ok()) status = (*file)->Close();
  if (!status.ok()) return status;
  made.bytes = builder.flushed_bytes();
  return made;
}

}  // namespace

Result<MergeInput> TablesOfLevelDb(const std::string& dir, const std::string& tables) {
  std::map<int, std::vector<JobTable>> levels;
  std::istringstream lines(tables);
  int level = -1;
  for (std::string line; std::getline(lines, line);) {
    if (std::sscanf(line.c_str(), "--- level %d ---", &level) == 1) continue;
    JobTable table;
    if (level < 0 || !ParseTable(line, dir, &table))
      return Status(Code::kUnsupported, "LevelDB's list of tables is not as expected: " + line);
    levels[level].push_back(std::move(table));
  }
  MergeInput input;
  for (auto& of_level : levels) {
    const int number = of_level.first;
    std::vector<JobTable>& members = of_level.second;
    if (members.empty()) continue;
    std::sort(members.begin(), members.end(), [&](const JobTable& a, const JobTable& b) {
      return number == 0 ? a.number > b.number : a.smallest < b.smallest;
    });
    if (number > 0) {
      input.runs.push_back(std::move(members));
      continue;
    }
    for (JobTable& table : members) input.runs.push_back({std::move(table)});
  }
  Count(&input);
  return input;
}

Result<MergeInput> WriteRuns(const std::string& dir, const RunShape& shape,
                             const RecordFormat& records) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const table::InternalComparator comparator(BytewiseComparator());
  const table::InternalFilterPolicy filter(NewBloomFilterPolicy(std::max(shape.bloom_bits, 1)));
  table::TableFormat format;
  format.comparator = &comparator;
  format.filter = shape.bloom_bits > 0 ? &filter : nullptr;
  format.compression =
      shape.compression == StoreCompression::kNone ? Compression::kNone : Compression::kSnappy;
  const uint64_t run_writes = shape.run_bytes / (kDurableKeyBytes + records.value_bytes_max());
  WritePass pass;
  pass.keys = shape.keys;
  pass.seed = shape.seed;
  IdStream ids(pass, 0);
  MergeInput input;
  std::vector<Write> writes;
  for (uint32_t version = 0; version < shape.keys; ++version) {
    writes.push_back({ids.Next(), version});
    if (writes.size() < run_writes && version + 1 < shape.keys) continue;
    const uint64_t number = input.runs.size() + 1;
    auto table =
        WriteRun(fmt::format("{}/{:06}.ldb", dir, number), number, format, &writes, records);
    if (!table) return table.error();
    input.runs.insert(input.runs.begin(), {std::move(*table)});
    writes.clear();
  }
  Count(&input);
  return input;
}

}  // namespace weft::bench
