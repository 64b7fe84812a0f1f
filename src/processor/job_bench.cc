// Jobs of reads on a processor, one at a time: build/release/src/processor/job_bench DEVICE
// (cpu, opencl:0, ...). How long a job takes from Start to Wait, and queries a second, by the
// number of its queries; 1 M entries of 16-byte keys and 64-byte values, all hits.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "base/program.h"
#include "processor/devices.h"
#include "processor/trial.h"

namespace weft::processor {
namespace {

constexpr uint32_t kEntries = 1 << 20;
constexpr uint32_t kQueriesMax = 1 << 15;

std::string KeyOf(uint32_t i) {
  char text[17];
  std::snprintf(text, sizeof text, "key-%012u", i);
  return text;
}

Status Fill(Trial* trial, Processor* processor) {
  for (uint32_t i = 0; i < kEntries;) {
    trial->Begin();
    for (uint32_t end = i + kQueriesMax; i < end; i++)
      trial->Store(KeyOf(i), {std::string(64, 'v')});
    trial->MakeJob(false);
    if (Status status = processor->Start(trial->job()); !status.ok()) return status;
    if (Status status = trial->job()->Wait(); !status.ok()) return status;
  }
  return {};
}

void BM_Reads(benchmark::State& state, Trial* trial, Processor* processor) {
  const uint32_t count = static_cast<uint32_t>(state.range(0));
  std::mt19937 random(1);
  trial->Begin();
  for (uint32_t i = 0; i < count; i++) trial->Read(KeyOf(random() % kEntries));
  trial->MakeJob(false);
  const task::QueryJob& query = trial->job()->query;
  for (auto _ : state) {
    std::memset(query.result, kResultNone, count);
    *query.values_used = 0;
    const Status status = processor->Start(trial->job());
    if (!status.ok() || !trial->job()->Wait().ok() || query.result[count - 1] != kResultRead)
      state.SkipWithError("a job failed");
  }
  state.SetItemsProcessed(state.iterations() * count);
}

int Run(const char* device) {
  auto processor = OpenDevice(device);
  if (!processor) {
    std::fprintf(stderr, "%s\n", processor.error().ToString().c_str());
    return 1;
  }
  Trial::Shape shape;
  shape.buckets = kEntries / 6;
  shape.log_bytes = uint64_t{kEntries} * 104;
  shape.queries_max = kQueriesMax;
  shape.values_bytes = uint64_t{kQueriesMax} * 80;
  auto trial = Trial::Create((*processor)->pages(), shape);
  const Status status = trial ? Fill(trial->get(), processor->get()) : trial.error();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  benchmark::RegisterBenchmark(device, BM_Reads, trial->get(), processor->get())
      ->RangeMultiplier(8)
      ->Range(64, kQueriesMax)
      ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace weft::processor

int main(int argc, char** argv) {
  weft::base::StartProgram("job_bench");
  benchmark::Initialize(&argc, argv);
  return weft::processor::Run(argc > 1 ? argv[1] : "cpu");
}
