// Sources whose store was built before are those of a store of their own.

#include <functional>

#include <gtest/gtest.h>

#include "sim/generator/workload_options.h"

namespace weft::sim {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{1} << 30;

WorkloadOptions Small() {
  WorkloadOptions options;
  options.mix = "3";
  options.cores = 2;
  options.ops = 300;
  options.buckets = 256;
  options.log_mib = 1;
  return options;
}

// What is in the index, and all that the cores do.
struct Played {
  TableImage table;
  StoreShape shape;
  std::vector<Record> records;

  bool operator==(const Played&) const = default;
};
Played Play(const Result<std::unique_ptr<TraceSource>>& source) {
  EXPECT_TRUE(source) << source.error().ToString();
  Played played{source.value()->InitialTable(), source.value()->shape(), {}};
  for (int core = 0; core < source.value()->cores(); ++core) {
    for (Record record; source.value()->Next(core, &record).value();) {
      played.records.push_back(record);
    }
  }
  return played;
}

using Change = std::function<void(WorkloadOptions&)>;

// One option after the other, each in the place of the store before.
TEST(SourceMaker, AnotherWorkloadGetsItsOwnStore) {
  const Change changes[] = {
      [](WorkloadOptions& o) { o.mix = "9"; },
      [](WorkloadOptions& o) { o.util = "exact:3"; },
      [](WorkloadOptions& o) { o.pop = "zipf:0.9"; },
      [](WorkloadOptions& o) { o.cores = 3; },
      [](WorkloadOptions& o) { o.ops = 9000; },
      [](WorkloadOptions& o) { o.buckets = 512; },
      [](WorkloadOptions& o) { o.log_mib = 2; },
      [](WorkloadOptions& o) { o.key_bytes = 40; },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    SourceMaker maker;
    const Played before = Play(maker.Make(Small(), 1, kMemoryBytes));
    WorkloadOptions changed = Small();
    changes[i](changed);
    const Played after = Play(maker.Make(changed, 1, kMemoryBytes));
    EXPECT_NE(before, after) << i;
    EXPECT_EQ(after, Play(MakeSource(changed, 1, kMemoryBytes))) << i;
  }
  SourceMaker maker;
  const Played first = Play(maker.Make(Small(), 1, kMemoryBytes));
  EXPECT_NE(first, Play(maker.Make(Small(), 2, kMemoryBytes)));
  EXPECT_EQ(Play(maker.Make(Small(), 2, kMemoryBytes)), Play(MakeSource(Small(), 2, kMemoryBytes)));
}

// Puts change a store: a source after another has it as it was.
TEST(SourceMaker, TheSameWorkloadAgainIsTheSame) {
  SourceMaker maker;
  const Played first = Play(maker.Make(Small(), 1, kMemoryBytes));
  EXPECT_EQ(first, Play(maker.Make(Small(), 1, kMemoryBytes)));
  // What is done with the store isn't the store's.
  WorkloadOptions faster = Small();
  faster.instr_per_op = 2500;
  const Played other = Play(maker.Make(faster, 1, kMemoryBytes));
  EXPECT_EQ(other.table, first.table);
  EXPECT_EQ(other, Play(MakeSource(faster, 1, kMemoryBytes)));
}

}  // namespace
}  // namespace weft::sim
