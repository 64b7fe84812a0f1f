// What the machine has counted, from one point in time to another.

#include <numeric>
#include <string>

#include "sim/machine/difference.h"
#include "sim/machine/machine.h"

namespace weft::sim {
namespace {

Mean Difference(const Mean& later, const Mean& earlier) {
  return {later.count - earlier.count, later.sum - earlier.sum};
}

PortFigures DifferenceOf(const PortFigures& later, const PortFigures& earlier) {
  PortFigures between;
  between.clocks = later.clocks - earlier.clocks;
  between.controller = Difference(later.controller, earlier.controller);
  between.demand_latency = Difference(later.demand_latency, earlier.demand_latency);
  between.prefetch_latency = Difference(later.prefetch_latency, earlier.prefetch_latency);
  between.wait = Difference(later.wait, earlier.wait);
  between.queued_clocks = later.queued_clocks - earlier.queued_clocks;
  for (size_t i = 0; i < between.demand_latencies.size(); ++i) {
    between.demand_latencies[i] = later.demand_latencies[i] - earlier.demand_latencies[i];
  }
  return between;
}

void AddTo(CoreFigures& sum, const CoreFigures& core) {
  sum.reads.Add(core.reads);
  sum.misses.Add(core.misses);
  sum.kv_misses.Add(core.kv_misses);
  sum.op_cycles.insert(sum.op_cycles.end(), core.op_cycles.begin(), core.op_cycles.end());
  sum.instructions += core.instructions;
  sum.cycles += core.cycles;
  sum.stalled_cycles += core.stalled_cycles;
}

}  // namespace

Machine::Snapshot Machine::TakeSnapshot(Time now) {
  Snapshot snapshot{.time = now,
                    .ops = ops_,
                    .l2 = l2_->counts(),
                    .channels = {},
                    .prefetch = prefetch_,
                    .mesh_waited = mesh_.waited()};
  for (const auto& port : ports_) snapshot.channels.push_back(port->FiguresAt(now));
  return snapshot;
}

void Machine::OnOpEnd(int /*core*/, Time now) {
  ++ops_;
  if (ops_ == warmup_ops_) {
    begin_ = TakeSnapshot(now);
    for (const auto& unit : units_) unit->OnWarmupEnd();
  }
  constexpr int64_t kOpsPerProgress = 1024;
  if (options_.on_progress && ops_ % kOpsPerProgress == 0) options_.on_progress(ops_);
}

void Machine::EndMeasurement(Time now) {
  if (ops_ < warmup_ops_) {
    has_run_out_ = true;
    status_ = {Code::kInvalidArgument, "the trace ended in the warm-up: " + std::to_string(ops_) +
                                           " operations of " + std::to_string(warmup_ops_)};
  }
  end_ = TakeSnapshot(now);
  is_settling_ = true;
  epoch_end_ = kNever;
  unit_next_.assign(unit_next_.size(), kNever);
}

void Machine::EndEpoch() {
  const Clock clock = epoch_end_ / tck_;
  Snapshot now{.time = epoch_end_, .ops = ops_, .prefetch = prefetch_};
  for (const auto& port : ports_) now.channels.push_back(port->FiguresBefore(clock));
  EpochFigures epoch{.clock = clock,
                     .ops = now.ops - epoch_.ops,
                     .prefetches_asked = now.prefetch.asked - epoch_.prefetch.asked};
  Mean latency;
  int64_t bursts = 0;
  int64_t queued = 0;
  for (size_t channel = 0; channel < ports_.size(); ++channel) {
    const PortFigures between = DifferenceOf(now.channels[channel], epoch_.channels[channel]);
    epoch.reads += between.controller.reads_done;
    epoch.writes += between.controller.writes_done;
    epoch.row_hits += between.controller.read_row_hits + between.controller.write_row_hits;
    bursts += between.controller.read_bursts + between.controller.write_bursts;
    queued += between.queued_clocks;
    latency.Add(between.demand_latency);
  }
  const double clocks = static_cast<double>(options_.epoch_clocks) * channels_;
  epoch.bus_utilization = static_cast<double>(bursts * preset_.timing.tburst) / clocks;
  epoch.queued = static_cast<double>(queued) / clocks;
  if (latency.count > 0) epoch.demand_latency_clocks = latency.value();
  epochs_.push_back(epoch);
  epoch_ = std::move(now);
  epoch_end_ += options_.epoch_clocks * tck_;
}

RunResult Machine::ResultOf() const {
  RunResult result;
  for (const auto& core : cores_) {
    AddTo(result.cores, core->figures());
    result.by_core.push_back(core->figures());
  }
  result.ops = end_.ops - begin_.ops;
  result.time = end_.time - begin_.time;
  result.warmup_end = begin_.time;
  result.l2 = Difference(end_.l2, begin_.l2);
  for (size_t channel = 0; channel < ports_.size(); ++channel) {
    const PortFigures between = DifferenceOf(end_.channels[channel], begin_.channels[channel]);
    result.channels.push_back(between);
    result.energy.emplace_back();
    if (preset_.currents) {
      result.energy.back() = EnergyOf(
          CostsOf(preset_.organization, preset_.timing, *preset_.currents), between.controller);
    }
    const ControllerCounts& all = end_.channels[channel].controller;
    result.requests += all.reads_done + all.writes_done;
  }
  // prefetch_ has the outcomes of what was on its way when the last core was done, too.
  result.prefetch = Difference(prefetch_, begin_.prefetch);
  const auto& before = begin_.prefetch.outcomes;
  result.prefetch.carried =
      begin_.prefetch.asked - std::accumulate(before.begin(), before.end(), int64_t{0});
  result.epochs = epochs_;
  result.mesh_waited = end_.mesh_waited - begin_.mesh_waited;
  result.tck_ns = preset_.timing.tck_ns;
  result.burst_clocks = preset_.timing.tburst;
  return result;
}

}  // namespace weft::sim
