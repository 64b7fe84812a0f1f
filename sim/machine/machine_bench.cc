// Requests of the memory a second of the simulator: eight cores whose operations read an index and
// an object of six lines and touch their stacks, with 5000 instructions each; and the same without
// plain instructions, so that the memory is always busy. The promise is 170,000.

#include <random>

#include <benchmark/benchmark.h>

#include "sim/machine/machine.h"

namespace weft::sim {
namespace {

constexpr int kCores = 8;
constexpr int kOpsOfCore = 2000;
constexpr uint64_t kBucketLines = 1 << 20;
constexpr uint64_t kObjectLines = 1 << 24;

// Operations made up as they are asked for.
class OpSource : public TraceSource {
 public:
  explicit OpSource(uint32_t instructions) : instructions_(instructions) {
    for (uint64_t core = 0; core < kCores; ++core) cores_[core].random.seed(core);
    shape_.buckets = 1;
    shape_.table_limit = kBucketLines * 64;
  }
  int cores() const override { return kCores; }
  const StoreShape& shape() const override { return shape_; }
  TableImage InitialTable() const override { return TableImage(1, 8); }
  Result<bool> Next(int number, Record* record) override {
    Player& core = cores_[static_cast<size_t>(number)];
    if (core.ops == kOpsOfCore) return false;
    *record = {};
    switch (core.step++) {
      case 0:
        core.object = kBucketLines + core.random() % kObjectLines;
        record->kind = RecordKind::kOpBegin;
        return true;
      case 1:
        record->kind = RecordKind::kPrefetch;
        core.bucket = core.random() % kBucketLines;
        return Access(record, core.bucket, AccessClass::kBucket, 0, 0);
      case 2: return Access(record, core.bucket, AccessClass::kBucket, Part(661), 0);
      case 3: return Access(record, core.object, AccessClass::kObjectHead, Part(177), 1);
      case 17:
        record->kind = RecordKind::kOpEnd;
        record->gap = Part(instructions_ - 1400);
        core.step = 0;
        ++core.ops;
        return true;
      default: break;
    }
    if (core.step <= 9) {
      return Access(record, core.object + core.step - 4, AccessClass::kObjectBody, Part(8),
                    static_cast<uint8_t>(core.step - 4));
    }
    const uint64_t stack = kBucketLines + kObjectLines + static_cast<uint64_t>(number) * 4096;
    return Access(record, stack + core.random() % 4096, AccessClass::kStack, Part(60), 0);
  }

 private:
  struct Player {
    std::mt19937_64 random;
    int ops = 0;
    uint64_t step = 0;
    uint64_t bucket = 0;
    uint64_t object = 0;
  };

  uint32_t Part(uint32_t gap) const { return instructions_ == 0 ? 0 : gap; }
  static bool Access(Record* record, uint64_t line, AccessClass cls, uint32_t gap, uint8_t dep) {
    record->addr = line * 64;
    record->size = 8;
    record->cls = cls;
    record->gap = gap;
    record->dep = dep;
    return true;
  }

  const uint32_t instructions_;
  StoreShape shape_;
  Player cores_[kCores];
};

void Simulate(benchmark::State& state, uint32_t instructions, bool skips) {
  Preset preset = FindPreset(kDefaultPreset).value();
  preset.organization.channels = 2;
  MachineOptions options;
  options.skips = skips;
  int64_t requests = 0;
  for (auto _ : state) {
    OpSource source(instructions);
    TableImage table = source.InitialTable();
    Machine machine(options, preset, source, &table, {});
    requests += machine.Run().value().requests;
  }
  state.SetItemsProcessed(requests);
}

void BM_FiveThousandInstructions(benchmark::State& state) { Simulate(state, 5000, true); }
void BM_NoPlainInstructions(benchmark::State& state) { Simulate(state, 0, true); }
void BM_FiveThousandWithoutSkipping(benchmark::State& state) { Simulate(state, 5000, false); }

BENCHMARK(BM_FiveThousandInstructions)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_NoPlainInstructions)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FiveThousandWithoutSkipping)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::sim

BENCHMARK_MAIN();
