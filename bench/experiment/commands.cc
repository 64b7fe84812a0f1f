#include "bench/experiment/commands.h"

#include "bench/experiment/bandwidth.h"
#include "bench/experiment/block_cache.h"
#include "bench/experiment/efficiency.h"
#include "bench/experiment/oversubscription.h"

namespace weft::bench {
namespace {

template <typename Options>
using RunExperiment = Status (*)(const Options& options);

template <typename Options, RunExperiment<Options> kRun>
Status RunWithCommandLine(Options* options, const std::string& command_line) {
  options->experiment.measure.command_line = command_line;
  return kRun(*options);
}

}  // namespace

CommandGroup ExperimentCommands() {
  return {
      OptionsCommand<EfficiencyOptions>(
          "efficiency", "YCSB by one thread and by all: rate, joules, counters", {}, AddEfficiency,
          RunWithCommandLine<EfficiencyOptions, RunEfficiency>),
      OptionsCommand<BandwidthOptions>(
          "bandwidth", "stores while others take the memory's bandwidth", {}, AddBandwidth,
          RunWithCommandLine<BandwidthOptions, RunBandwidth>),
      OptionsCommand<OversubscriptionOptions>(
          "oversubscription", "latency by client threads per hardware thread", {},
          AddOversubscription, RunWithCommandLine<OversubscriptionOptions, RunOversubscription>),
      OptionsCommand<BlockCacheOptions>(
          "block-cache", "latency of durable stores by size of the block cache", {}, AddBlockCache,
          RunWithCommandLine<BlockCacheOptions, RunBlockCache>),
  };
}

}  // namespace weft::bench
