#include "bench/experiment/commands.h"

#include <CLI/CLI.hpp>

#include "bench/experiment/bandwidth.h"
#include "bench/experiment/block_cache.h"
#include "bench/experiment/efficiency.h"
#include "bench/experiment/oversubscription.h"

namespace weft::bench {

struct ExperimentCommands::Arguments {
  EfficiencyOptions efficiency;
  BandwidthOptions bandwidth;
  OversubscriptionOptions oversubscription;
  BlockCacheOptions block_cache;
};

ExperimentCommands::ExperimentCommands() : arguments_(std::make_unique<Arguments>()) {}
ExperimentCommands::~ExperimentCommands() = default;

void ExperimentCommands::AddTo(CLI::App* app) {
  Arguments& a = *arguments_;
  const auto add = [&](const std::string& name, const std::string& what) {
    return app->add_subcommand(name, what);
  };
  AddEfficiency(add("efficiency", "YCSB by one thread and by all: rate, joules, counters"),
                &a.efficiency);
  AddBandwidth(add("bandwidth", "stores while others take the memory's bandwidth"), &a.bandwidth);
  AddOversubscription(add("oversubscription", "latency by client threads per hardware thread"),
                      &a.oversubscription);
  AddBlockCache(add("block-cache", "latency of durable stores by size of the block cache"),
                &a.block_cache);
}

std::optional<Status> ExperimentCommands::Run(const std::string& name,
                                              const std::string& command_line) {
  Arguments& a = *arguments_;
  for (ExperimentOptions* options : {&a.efficiency.experiment, &a.bandwidth.experiment,
                                     &a.oversubscription.experiment, &a.block_cache.experiment})
    options->measure.command_line = command_line;
  if (name == "efficiency") return RunEfficiency(a.efficiency);
  if (name == "bandwidth") return RunBandwidth(a.bandwidth);
  if (name == "oversubscription") return RunOversubscription(a.oversubscription);
  if (name == "block-cache") return RunBlockCache(a.block_cache);
  return std::nullopt;
}

}  // namespace weft::bench
