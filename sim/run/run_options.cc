#include "sim/run/run_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/harness/machine.h"
#include "sim/base/not_negative.h"

namespace weft::sim {
namespace {

constexpr int64_t kEver = 1'000'000'000'000;  // operations or clocks

void AddCores(CLI::App* app, RunOptions* options) {
  const auto at_most = [](int64_t max) { return CLI::Range(int64_t{0}, max); };
  app->add_option("--plain-cpi", options->plain_cpi,
                  "cycles of a plain instruction: 0.25, 0.5 or 1")
      ->capture_default_str();
  app->add_option("--window", options->window, "instructions in a core's window")
      ->capture_default_str()
      ->check(at_most(65'536));
  app->add_option("--mshrs", options->mshrs, "misses that a core has in flight")
      ->capture_default_str()
      ->check(at_most(65'536));
  app->add_option("--store-buffer", options->store_buffer, "stores in a core's buffer")
      ->capture_default_str()
      ->check(at_most(65'536));
  app->add_option("--l1-kb", options->l1_kb, "size of a core's cache")
      ->capture_default_str()
      ->check(at_most(1'048'576));
  app->add_option("--l1-ways", options->l1_ways, "ways of a core's cache")
      ->capture_default_str()
      ->check(at_most(1024));
  app->add_option("--l2-kb", options->l2_kb, "size of the shared cache")
      ->capture_default_str()
      ->check(at_most(1'048'576));
  app->add_option("--l2-ways", options->l2_ways, "ways of the shared cache")
      ->capture_default_str()
      ->check(at_most(1024));
  app->add_option("--l2-lat", options->l2_cycles, "core cycles of an access to a bank")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  app->add_option("--l2-mshrs", options->l2_mshrs, "misses that a bank has in flight")
      ->capture_default_str()
      ->check(at_most(65'536));
  app->add_option("--noc", options->noc, "free: packets never wait; busy: they wait for links")
      ->capture_default_str()
      ->check(CLI::IsMember({"free", "busy"}));
}

void AddPrefetchedLines(CLI::App* app, RunOptions* options) {
  app->add_option("--dest", options->dest,
                  "where prefetched lines go: to L2 (llc), or a buffer at the controller (mcbuf)")
      ->capture_default_str()
      ->check(CLI::IsMember({"llc", "mcbuf"}));
  app->add_option("--filter", options->filter, "oracle: never prefetch lines that L2 has")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "oracle"}));
  app->add_flag("--demand-first", options->demand_first,
                "prefetches wait while their channel has a demand read");
  app->add_option("--drop-age", options->drop_age,
                  "clocks that a prefetch may wait for the queue; 0: unlimited")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, kEver));
  app->add_option("--pfq", options->staging, "prefetches that may wait for the queue")
      ->capture_default_str();
}

}  // namespace

void AddRun(CLI::App* app, RunOptions* options) {
  NoteGiven(app, &options->given);
  AddMemory(app, &options->memory);
  AddControl(app, &options->memory);
  AddCores(app, options);
  AddPrefetchedLines(app, options);
  AddWorkload(app, &options->workload);
  app->add_option("--warmup", options->warmup, "share of the operations that no figure counts")
      ->capture_default_str();
  app->add_option("--fast-forward", options->fast_forward,
                  "operations before them that take no time but fill L2 and hit tables")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, kEver));
  app->add_option("--seed", options->seed, "seed of all random choices")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--epoch", options->epoch_clocks, "clocks of a row in epoch.csv; 0: no file")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, kEver));
  app->add_option("--out", options->out,
                  "folder for summary.json and epoch.csv, and for runs.csv, which is appended to");
}

Result<MachineOptions> MachineOf(const RunOptions& options, const ControlledMemory& memory) {
  MachineOptions machine;
  if (!(options.plain_cpi == 0.25 || options.plain_cpi == 0.5 || options.plain_cpi == 1)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("CPI {}: it must be 0.25, 0.5 or 1", options.plain_cpi));
  }
  machine.core.plain_slots = static_cast<int>(options.plain_cpi * machine.core.width);
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

nlohmann::ordered_json ConfigOf(const RunOptions& options) {
  const MemoryOptions& memory = options.memory;
  return {{"commit", bench::ThisMachine().commit},
          {"seed", options.seed},
          {"ops_asked", options.workload.ops},
          {"warmup", options.warmup},
          {"fast_forward", options.fast_forward},
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

}  // namespace weft::sim
