#include "sim/run_command.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/harness/machine.h"
#include "sim/run/report.h"

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;

void AddCores(CLI::App* app, RunOptions* options) {
  app->add_option("--plain-cpi", options->plain_cpi, "cycles a plain instruction: 0.25, 0.5 or 1")
      ->capture_default_str();
  app->add_option("--window", options->window, "instructions")->capture_default_str();
  app->add_option("--mshrs", options->mshrs, "misses that a core has under way")
      ->capture_default_str();
  app->add_option("--store-buffer", options->store_buffer, "stores")->capture_default_str();
  app->add_option("--l1-kb", options->l1_kb, "a core's cache")->capture_default_str();
  app->add_option("--l1-ways", options->l1_ways, "its ways")->capture_default_str();
  app->add_option("--l2-kb", options->l2_kb, "the shared cache")->capture_default_str();
  app->add_option("--l2-ways", options->l2_ways, "its ways")->capture_default_str();
  app->add_option("--l2-lat", options->l2_cycles, "core cycles of a bank's access")
      ->capture_default_str();
  app->add_option("--l2-mshrs", options->l2_mshrs, "misses that a bank has under way")
      ->capture_default_str();
  app->add_option("--noc", options->noc, "free: packets don't wait; busy: for links")
      ->capture_default_str()
      ->check(CLI::IsMember({"free", "busy"}));
}

void AddPrefetchedLines(CLI::App* app, RunOptions* options) {
  app->add_option("--dest", options->dest,
                  "prefetched lines go to L2 (llc) or stay at the controller (mcbuf)")
      ->capture_default_str()
      ->check(CLI::IsMember({"llc", "mcbuf"}));
  app->add_option("--filter", options->filter, "oracle: never prefetch what L2 has")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "oracle"}));
  app->add_flag("--demand-first", options->demand_first,
                "prefetches wait while their channel has a demand read");
  app->add_option("--drop-age", options->drop_age,
                  "clocks that a prefetch may wait for the queue; 0: any")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--pfq", options->staging, "prefetches that may wait for the queue")
      ->capture_default_str();
}

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
  int64_t ops = options.workload.ops;
  if (ops == 0 && options.warmup > 0) {
    const auto source = parts.make_source();
    if (!source) return source.error();
    const Result<int64_t> counted = CountOps(*source.value());
    if (!counted) return counted.error();
    ops = counted.value();
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

class Progress {
 public:
  explicit Progress(int64_t ops) : ops_(ops), is_shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (has_shown_) std::fputc('\n', stderr);
  }
  void Show(int64_t ops) {
    if (!is_shown_ || ops < next_) return;
    has_shown_ = true;
    next_ = ops + std::max<int64_t>(ops_ / 200, 1000);
    if (ops_ > 0) {
      fmt::print(stderr, "\r{} of {} operations", ops, ops_);
    } else {
      fmt::print(stderr, "\r{} operations", ops);
    }
    std::fflush(stderr);
  }

 private:
  const int64_t ops_;
  const bool is_shown_;
  bool has_shown_ = false;
  int64_t next_ = 0;
};

}  // namespace

void AddRun(CLI::App* app, RunOptions* options) {
  AddMemory(app, &options->memory);
  AddControl(app, &options->memory);
  AddCores(app, options);
  AddPrefetchedLines(app, options);
  AddWorkload(app, &options->workload);
  app->add_option("--warmup", options->warmup, "part of them that no figure counts")
      ->capture_default_str();
  app->add_option("--seed", options->seed, "of all that is random")->capture_default_str();
  app->add_option("--epoch", options->epoch_clocks, "clocks a row of epoch.csv; 0: none")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--out", options->out,
                  "the folder for summary.json and epoch.csv, and for runs.csv, which grows");
}

Result<MachineOptions> MachineOf(const RunOptions& options, const ControlledMemory& memory) {
  MachineOptions machine;
  const double slots = options.plain_cpi * machine.core.width;
  machine.core.plain_slots = static_cast<int>(slots);
  if (!(options.plain_cpi == 0.25 || options.plain_cpi == 0.5 || options.plain_cpi == 1)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("CPI {}: there are 0.25, 0.5 and 1", options.plain_cpi));
  }
  machine.core.window = options.window;
  machine.core.store_buffer = options.store_buffer;
  machine.l1 = {.kilobytes = options.l1_kb, .ways = options.l1_ways, .mshrs = options.mshrs};
  machine.l2.shape = {
      .kilobytes = options.l2_kb, .ways = options.l2_ways, .mshrs = options.l2_mshrs};
  machine.l2.bank_cycles = options.l2_cycles;
  machine.mesh.is_busy = options.noc == "busy";
  machine.interleave = memory.interleave;
  machine.controller = memory.controller;
  machine.port.staging_max = options.staging;
  machine.port.demand_first = options.demand_first;
  machine.port.drop_age = options.drop_age;
  machine.port.buffer_lines = options.dest == "mcbuf" ? 64 : 0;
  if (options.filter == "oracle") machine.filter = PrefetchFilter::kOracle;
  machine.skips = !options.memory.no_skip;
  machine.epoch_clocks = options.epoch_clocks;
  return machine;
}

Json ConfigOf(const RunOptions& options) {
  const MemoryOptions& memory = options.memory;
  return {{"commit", bench::ThisMachine().commit},
          {"seed", options.seed},
          {"ops_asked", options.workload.ops},
          {"warmup", options.warmup},
          {"preset", memory.preset},
          {"map", memory.map},
          {"channels", memory.channels},
          {"ranks", memory.ranks},
          {"writes_policy", memory.writes},
          {"policy", memory.policy},
          {"page", memory.page},
          {"refresh", memory.no_refresh ? "none" : memory.refresh},
          {"row_hits_max", memory.row_hits_max},
          {"refresh_drain", memory.refresh_drain},
          {"power_down", memory.power_down},
          {"currents", memory.currents},
          {"compat", memory.compat},
          {"plain_cpi", options.plain_cpi},
          {"window", options.window},
          {"mshrs", options.mshrs},
          {"store_buffer", options.store_buffer},
          {"l1_kb", options.l1_kb},
          {"l1_ways", options.l1_ways},
          {"l2_kb", options.l2_kb},
          {"l2_ways", options.l2_ways},
          {"l2_lat", options.l2_cycles},
          {"l2_mshrs", options.l2_mshrs},
          {"noc", options.noc},
          {"dest", options.dest},
          {"filter", options.filter},
          {"demand_first", options.demand_first},
          {"drop_age", options.drop_age},
          {"pfq", options.staging}};
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
  parts->unit_figures = [made] {
    Json figures = ToJson(made->Total());
    figures["hit_table_bytes"] = made->hit_table_bytes;
    return figures;
  };
  parts->config.update(ConfigOf(prefetch));
}

Status RunOn(const RunOptions& options, const RunParts& parts) {
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

  CommandFiles commands;
  const auto on_command = commands.Open(options.memory);
  if (!on_command) return on_command.error();
  machine.value().on_command = on_command.value();
  Progress progress(options.workload.ops);
  machine.value().on_progress = [&](int64_t ops) { progress.Show(ops); };
  TableImage table = source.value()->InitialTable();
  std::vector<std::unique_ptr<Prefetcher>> units;
  if (parts.make_units) {
    auto made = parts.make_units(source.value()->shape(), table);
    if (!made) return made.error();
    units = std::move(made.value());
  }
  const Result<RunResult> run =
      Machine(machine.value(), preset, *source.value(), &table, std::move(units)).Run();
  if (!run) return run.error();
  status = commands.Close();
  if (!status.ok()) return status;

  Json config = ConfigOf(options);
  config.update(parts.config);
  const Json figures = parts.unit_figures ? parts.unit_figures() : Json();
  std::fputs((Summary(config, run.value(), figures).dump(2) + "\n").c_str(), stdout);
  return options.out.empty() ? Status::Ok()
                             : WriteReport(options.out, config, run.value(), figures);
}

Status RunSource(const RunOptions& options, const PrefetchOptions& prefetch) {
  const Result<ControlledMemory> memory = MemoryOf(options.memory);
  if (!memory) return memory.error();
  const uint64_t bytes = memory.value().preset.organization.lines() * kLineBytes;
  RunParts parts{
      .make_source = [&options,
                      bytes] { return MakeSource(options.workload, options.seed, bytes); },
      .make_units = {},
      .config = ConfigOf(options.workload)};
  AddUnits(options, prefetch, &parts);
  return RunOn(options, parts);
}

}  // namespace weft::sim
