#include "sim/run/simulation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace weft::sim {
namespace {

Result<int64_t> CountOps(TraceSource& source) {
  int64_t ops = 0;
  Record record;
  for (int core = 0; core < source.cores(); ++core) {
    while (true) {
      const Result<bool> next = source.Next(core, &record);
      if (!next) return next.error();
      if (!next.value()) break;
      ops += record.kind == RecordKind::kOpEnd;
    }
  }
  return ops;
}

// Sets how many operations the machine plays, and how many of them are warm-up.
Status SetOps(const RunOptions& options, const RunParts& parts, MachineOptions& machine) {
  if (!(options.warmup >= 0 && options.warmup < 1)) {
    return {Code::kInvalidArgument,
            fmt::format("warm-up: {} is not from 0 to less than 1", options.warmup)};
  }
  if (options.fast_forward < 0) return {Code::kInvalidArgument, "fast-forward: it is negative"};
  machine.fast_forward_ops = options.fast_forward;
  int64_t ops = options.workload.ops;
  if (ops == 0 && options.warmup > 0) {
    const auto source = parts.make_source();
    if (!source) return source.error();
    const Result<int64_t> counted = CountOps(*source.value());
    if (!counted) return counted.error();
    ops = std::max<int64_t>(0, counted.value() - options.fast_forward);
  }
  machine.core.ops_max = options.workload.ops;
  machine.core.warmup_ops = std::llround(static_cast<double>(ops) * options.warmup);
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
  return Machine(machine.value(), preset, *source.value(), &table, std::move(units)).Run();
}

}  // namespace weft::sim
