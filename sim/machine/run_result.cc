#include "sim/machine/run_result.h"
#include "sim/machine/difference.h"

#include <algorithm>
#include <numeric>

namespace weft::sim {
namespace {

double Ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

double Ratio(int64_t part, int64_t whole) {
  return Ratio(static_cast<double>(part), static_cast<double>(whole));
}

double Gain(const Mean& baseline, const Mean& run) {
  return baseline.count == 0 || run.count == 0 ? 0 : 1 - Ratio(run.value(), baseline.value());
}

}  // namespace

double PrefetchFigures::accuracy() const {
  const int64_t all = std::accumulate(outcomes.begin(), outcomes.end(), int64_t{0});
  return Ratio(useful(), all - of(PrefetchOutcome::kRedundant));
}

double PrefetchFigures::timeliness() const { return Ratio(of(PrefetchOutcome::kTimely), useful()); }

double RunResult::ops_per_second() const { return Ratio(static_cast<double>(ops), seconds()); }

uint32_t RunResult::OpCycles(double percentile) const {
  if (cores.op_cycles.empty()) return 0;
  std::vector<uint32_t> sorted = cores.op_cycles;
  const auto at = static_cast<ptrdiff_t>(static_cast<double>(sorted.size() - 1) * percentile);
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<size_t>(at)];
}

double RunResult::op_cycles_mean() const {
  const auto sum = std::accumulate(cores.op_cycles.begin(), cores.op_cycles.end(), int64_t{0});
  return Ratio(sum, static_cast<int64_t>(cores.op_cycles.size()));
}

double RunResult::instructions_per_cycle() const { return Ratio(cores.instructions, cores.cycles); }

PortFigures RunResult::AllChannels() const {
  PortFigures all;
  const auto add = [](auto& sum, const auto& part) { sum += part; };
  for (const PortFigures& channel : channels) {
    add(all.clocks, channel.clocks);
    all.demand_latency.Add(channel.demand_latency);
    all.prefetch_latency.Add(channel.prefetch_latency);
    all.wait.Add(channel.wait);
    add(all.queued_clocks, channel.queued_clocks);
    for (size_t i = 0; i < all.demand_latencies.size(); ++i) {
      all.demand_latencies[i] += channel.demand_latencies[i];
    }
    // The sum is what the difference to what is missing makes.
    all.controller = Difference(channel.controller, Difference(ControllerCounts{}, all.controller));
  }
  return all;
}

double RunResult::BusUtilization(const PortFigures& channel) const {
  const int64_t bursts = channel.controller.read_bursts + channel.controller.write_bursts;
  return Ratio(bursts * burst_clocks, channel.clocks);
}

std::optional<Energy> RunResult::AllEnergy() const {
  Energy all{};
  for (const auto& channel : energy) {
    if (!channel) return std::nullopt;
    all.activate_nj += channel->activate_nj;
    all.read_nj += channel->read_nj;
    all.write_nj += channel->write_nj;
    all.refresh_nj += channel->refresh_nj;
    all.background_nj += channel->background_nj;
  }
  return all;
}

double RunResult::requests_per_wall_second() const {
  return Ratio(static_cast<double>(requests), wall_s);
}

Comparison Compare(const RunResult& baseline, const RunResult& run) {
  Comparison comparison{.m1_gain = Gain(baseline.cores.reads, run.cores.reads),
                        .m2_gain = Gain(baseline.cores.misses, run.cores.misses),
                        .m3_gain = Gain(baseline.cores.kv_misses, run.cores.kv_misses),
                        .coverage = Ratio(run.prefetch.useful(), baseline.l2.object_misses),
                        .paired_cycles_baseline = 0,
                        .paired_cycles = 0};
  Mean before;
  Mean after;
  for (size_t core = 0; core < std::min(baseline.by_core.size(), run.by_core.size()); ++core) {
    const std::vector<uint32_t>& from = baseline.by_core[core].kv_latencies;
    const std::vector<uint32_t>& to = run.by_core[core].kv_latencies;
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      if ((from[i] & CoreFigures::kFromMemory) == 0) continue;
      before.Add(from[i] & ~CoreFigures::kFromMemory);
      after.Add(to[i] & ~CoreFigures::kFromMemory);
    }
  }
  comparison.paired_cycles_baseline = before.value();
  comparison.paired_cycles = after.value();
  return comparison;
}

}  // namespace weft::sim
