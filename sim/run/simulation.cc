#include "sim/run/simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/run/short_trace.h"

namespace weft::sim {
namespace {

Result<std::vector<int64_t>> CountOpsOf(const RunParts& parts) {
  const auto source = parts.make_source();
  if (!source) return source.error();
  return CountOps(*source.value());
}

// Sets how many operations the machine plays, and how many of them are warm-up.
Status SetOps(const RunOptions& options, const RunParts& parts, MachineOptions& machine) {
  if (!(options.warmup >= 0 && options.warmup < 1)) {
    return {Code::kInvalidArgument,
            fmt::format("warm-up: {} is not from 0 to less than 1", options.warmup)};
  }
  if (options.fast_forward < 0) return {Code::kInvalidArgument, "fast-forward: it is negative"};
  machine.fast_forward_ops = options.fast_forward;
  int64_t left = 0;
  if (options.workload.ops == 0 && options.warmup > 0) {
    const Result<std::vector<int64_t>> counted = CountOpsOf(parts);
    if (!counted) return counted.error();
    const int64_t all = std::accumulate(counted.value().begin(), counted.value().end(), int64_t{0});
    left = std::max<int64_t>(0, all - options.fast_forward);
  }
  machine.core.ops_max = options.workload.ops;
  machine.core.warmup_ops = WarmupOps(options, left);
  return Status::Ok();
}

// Of an open row.
Time ShortestRead(const Preset& preset) {
  const Timing& timing = preset.timing;
  constexpr int kControllerClocks = 1;
  return std::llround((kControllerClocks + timing.cl + timing.tburst) * timing.tck_ns *
                      kPicosecondsPerNanosecond);
}

}  // namespace

nlohmann::ordered_json ToJson(const UnitFigures& figures) {
  nlohmann::ordered_json json = ToJson(figures.counts);
  json["hit_table_bytes"] = figures.hit_table_bytes;
  return json;
}

void AddUnits(const RunOptions& options, const PrefetchOptions& prefetch, RunParts* parts) {
  const auto made = std::make_shared<PrefetchUnits>();
  parts->make_units = [&options, &prefetch, made](const StoreShape& shape, const TableImage& table)
      -> Result<std::vector<std::unique_ptr<Prefetcher>>> {
    const Result<ControlledMemory> memory = MemoryOf(options.memory);
    if (!memory) return memory.error();
    const Preset& preset = memory.value().preset;
    PrefetchOptions of_memory = prefetch;
    of_memory.shortest_read_ps = ShortestRead(preset);
    Result<PrefetchUnits> units =
        MakePrefetchers(of_memory, shape, table, preset.organization.channels, options.seed);
    if (!units) return units.error();
    *made = std::move(units.value());
    return std::move(made->units);
  };
  parts->unit_figures = [made] { return UnitFigures{made->Total(), made->hit_table_bytes}; };
  parts->config.update(ConfigOf(prefetch));
}

Result<RunParts> PartsOf(const RunOptions& options, const PrefetchOptions& prefetch,
                         SourceMaker* maker) {
  const Result<ControlledMemory> memory = MemoryOf(options.memory);
  if (!memory) return memory.error();
  const uint64_t bytes = memory.value().preset.organization.lines() * kLineBytes;
  RunParts parts{.make_source =
                     [&options, bytes, maker] {
                       WorkloadOptions workload = options.workload;
                       if (workload.ops > 0) workload.ops += options.fast_forward;
                       return maker != nullptr ? maker->Make(workload, options.seed, bytes)
                                               : MakeSource(workload, options.seed, bytes);
                     },
                 .make_units = {},
                 .config = ConfigOf(options.workload)};
  AddUnits(options, prefetch, &parts);
  return parts;
}

Result<RunResult> Simulate(const RunOptions& options, const RunParts& parts,
                           const RunListener& listener) {
  const Result<ControlledMemory> memory = MemoryOf(options.memory);
  if (!memory) return memory.error();
  Result<MachineOptions> machine = MachineOf(options, memory.value());
  if (!machine) return machine.error();
  Status status = SetOps(options, parts, machine.value());
  if (!status.ok()) return status;
  const auto source = parts.make_source();
  if (!source) return source.error();
  const Preset& preset = memory.value().preset;
  status = Validate(machine.value(), preset, source.value()->cores());
  if (!status.ok()) return status;

  machine.value().on_command = listener.on_command;
  machine.value().on_progress = listener.on_progress;
  TableImage table = source.value()->InitialTable();
  std::vector<std::unique_ptr<Prefetcher>> units;
  if (parts.make_units) {
    auto made = parts.make_units(source.value()->shape(), table);
    if (!made) return made.error();
    units = std::move(made.value());
  }
  Machine played(machine.value(), preset, *source.value(), &table, std::move(units));
  Result<RunResult> run = played.Run();
  // Without operations before them, records of none are worth a run.
  const bool had_some = options.fast_forward > 0 || machine.value().core.warmup_ops > 0;
  const bool measured_none = run && run.value().ops == 0 && had_some;
  if (!measured_none && !played.has_run_out()) return run;
  const Result<std::vector<int64_t>> counted = CountOpsOf(parts);
  return counted ? TooShort(options, counted.value()) : counted.error();
}

}  // namespace weft::sim
