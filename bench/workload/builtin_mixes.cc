#include "bench/workload/builtin_mixes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/named/named.h"
#include "bench/workload/words.h"

namespace weft::bench {
namespace {

constexpr uint64_t kYcsbRecords = 1'000'000;
constexpr uint64_t kCompactionRecords = 10'000'000;
constexpr uint32_t kCompactionKeyBytes = 16;
constexpr uint32_t kCompactionValueBytes[] = {128, 256, 512, 1024};
constexpr std::string_view kCompaction = "compaction-";
constexpr std::string_view kFill = "-load";
constexpr double kTheta = 0.99;
constexpr double kBytesBesides = 64;

KeyDistribution Keys(KeyLaw law) {
  KeyDistribution keys;
  keys.law = law;
  keys.theta = kTheta;
  return keys;
}

OperationMix YcsbMix(char letter) {
  OperationMix mix;
  mix.name = fmt::format("ycsb-{}", letter);
  mix.fill_name = "ycsb-load";
  mix.records = kYcsbRecords;
  mix.keys = Keys(letter == 'd' ? KeyLaw::kLatest : KeyLaw::kScrambledZipf);
  // In hundredths: 1 - 0.95 is not what a report should print as 0.05.
  const auto both = [&mix](OperationKind most, int percent, OperationKind other) {
    mix.SetShare(other, (100 - percent) / 100.0);
    mix.SetShare(most, percent / 100.0);
  };
  switch (letter) {
    case 'a': both(OperationKind::kRead, 50, OperationKind::kUpdate); break;
    case 'b': both(OperationKind::kRead, 95, OperationKind::kUpdate); break;
    case 'c': both(OperationKind::kRead, 100, OperationKind::kUpdate); break;
    case 'd': both(OperationKind::kRead, 95, OperationKind::kInsert); break;
    case 'e': both(OperationKind::kScan, 95, OperationKind::kInsert); break;
    default: both(OperationKind::kRead, 50, OperationKind::kReadModifyWrite);
  }
  return mix;
}

OperationMix InMemoryMix(const Workload& workload) {
  OperationMix mix;
  mix.name = workload.name;
  mix.fill_name = workload.name.substr(0, workload.name.find('-')) + std::string(kFill);
  mix.SetShare(OperationKind::kRead, workload.get_share);
  mix.SetShare(OperationKind::kUpdate, std::round((1 - workload.get_share) * 100) / 100);
  mix.keys = Keys(workload.zipf ? KeyLaw::kPermutedZipf : KeyLaw::kUniform);
  mix.record.key_bytes = SizeDistribution::Fixed(workload.key_bytes);
  mix.record.value_bytes = SizeDistribution::Fixed(workload.value_bytes);
  mix.records = RecordsThatFit(mix.record, kInMemoryBytes);
  return mix;
}

OperationMix CompactionMix(uint32_t value_bytes) {
  OperationMix mix = YcsbMix('a');
  mix.name = fmt::format("{}{}", kCompaction, value_bytes);
  mix.fill_name.clear();
  mix.record.key_bytes = SizeDistribution::Fixed(kCompactionKeyBytes);
  mix.record.value_bytes = SizeDistribution::Fixed(value_bytes);
  mix.records = kCompactionRecords;
  return mix;
}

}  // namespace

uint64_t RecordsThatFit(const RecordOptions& record, uint64_t bytes) {
  const double each = record.key_bytes.Mean() + record.value_bytes.Mean() + kBytesBesides;
  return std::clamp(static_cast<uint64_t>(static_cast<double>(bytes) / each), uint64_t{1},
                    kRecordsMax);
}

std::vector<std::string> BuiltinMixNames() {
  std::vector<std::string> names = {"ycsb-load", "ycsb-a", "ycsb-b", "ycsb-c",
                                    "ycsb-d",    "ycsb-e", "ycsb-f"};
  for (const int key_bytes : {8, 16, 32, 128})
    for (const int get_percent : {50, 95, 100})
      for (const char skew : {'U', 'S'})
        names.push_back(fmt::format("K{}-G{}-{}", key_bytes, get_percent, skew));
  for (const uint32_t value_bytes : kCompactionValueBytes) {
    names.push_back(fmt::format("{}{}{}", kCompaction, value_bytes, kFill));
    names.push_back(fmt::format("{}{}", kCompaction, value_bytes));
  }
  return names;
}

Result<OperationMix> BuiltinMix(std::string_view name) {
  if (name == "ycsb-load") return FillOf(YcsbMix('a'));
  for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'})
    if (name == fmt::format("ycsb-{}", letter)) return YcsbMix(letter);
  for (const uint32_t value_bytes : kCompactionValueBytes) {
    OperationMix mix = CompactionMix(value_bytes);
    if (name == mix.name) return mix;
    if (name == mix.name + std::string(kFill)) return FillOf(mix);
  }
  if (auto workload = ParseWorkload(name)) return InMemoryMix(*workload);
  return Status(Code::kNotFound, fmt::format("unknown workload '{}'; the workloads are: {}", name,
                                             fmt::join(BuiltinMixNames(), ", ")));
}

std::vector<std::string> YcsbOrder() {
  return {"ycsb-load", "ycsb-a", "ycsb-b",    "ycsb-c", "ycsb-f",
          "ycsb-d",    "clear",  "ycsb-load", "ycsb-e"};
}

}  // namespace weft::bench
