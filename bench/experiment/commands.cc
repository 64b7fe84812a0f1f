#include "bench/experiment/commands.h"

#include "bench/experiment/bandwidth.h"
#include "bench/experiment/block_cache.h"
#include "bench/experiment/efficiency.h"
#include "bench/experiment/oversubscription.h"

namespace weft::bench {
CommandGroup ExperimentCommands() {
  return {
      OptionsCommand<EfficiencyOptions>("efficiency",
                                        "YCSB by one thread and by all: rate, joules, counters", {},
                                        AddEfficiency, RunEfficiency),
      OptionsCommand<BandwidthOptions>("bandwidth",
                                       "stores while others take the memory's bandwidth", {},
                                       AddBandwidth, RunBandwidth),
      OptionsCommand<OversubscriptionOptions>("oversubscription",
                                              "latency by client threads per hardware thread", {},
                                              AddOversubscription, RunOversubscription),
      OptionsCommand<BlockCacheOptions>("block-cache",
                                        "latency of durable stores by size of the block cache", {},
                                        AddBlockCache, RunBlockCache),
  };
}

}  // namespace weft::bench
