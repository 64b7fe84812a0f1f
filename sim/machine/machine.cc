#include "sim/machine/machine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"

namespace weft::sim {
namespace {

CoreOptions OptionsOf(const MachineOptions& options, int core, int cores) {
  CoreOptions of_core = options.core;
  of_core.cycle = options.mesh.cycle;
  of_core.skips = options.skips;
  const auto share = [&](int64_t ops) { return ops / cores + (core < ops % cores ? 1 : 0); };
  of_core.ops_max = share(options.core.ops_max);
  of_core.warmup_ops = share(options.core.warmup_ops);
  return of_core;
}

}  // namespace

Status Validate(const MachineOptions& options, const Preset& preset, int cores) {
  if (cores < 1 || cores > 64) {
    return {Code::kInvalidArgument, "cores: " + std::to_string(cores) + " is not 1 to 64"};
  }
  if (options.core.ops_max > 0 && options.core.ops_max < cores) {
    return {Code::kInvalidArgument, "there are fewer operations than cores"};
  }
  if (options.port.staging_max < 1 || options.port.drop_age < 0 || options.port.buffer_lines < 0 ||
      options.epoch_clocks < 0 || options.fast_forward_ops < 0) {
    return {Code::kInvalidArgument,
            "prefetching: a staging queue needs at least one line, and no figure may be negative"};
  }
  for (int core = 0; core < cores; ++core) {
    Status status = Validate(OptionsOf(options, core, cores));
    if (!status.ok()) return status;
  }
  for (const Status& status :
       {Validate(options.mesh), Validate(options.l1, 1, "L1"), Validate(options.l2),
        Validate(preset.organization), Validate(preset, options.controller)}) {
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Machine::Machine(const MachineOptions& options, const Preset& preset, TraceSource& source,
                 TableImage* table, std::vector<std::unique_ptr<Prefetcher>> units)
    : options_(options),
      preset_(preset),
      map_(options.interleave, preset.organization),
      channels_(preset.organization.channels),
      table_line_(source.shape().table_base / kLineBytes),
      tck_(std::llround(preset.timing.tck_ns * kPicosecondsPerNanosecond)),
      mesh_(options.mesh),
      source_(source),
      units_(std::move(units)),
      table_(table),
      unit_next_(units_.size(), kNever),
      cores_left_(static_cast<size_t>(source.cores())),
      warmup_ops_(options.core.warmup_ops) {
  WEFT_CHECK(units_.empty() || static_cast<int>(units_.size()) == channels_);
  const CoreLimits limits = {.lines = map_.lines(),
                             .buckets = table->buckets(),
                             .slots_per_bucket = table->slots_per_bucket()};
  std::vector<L1Cache*> l1s;
  for (int core = 0; core < source.cores(); ++core) {
    l1s_.push_back(std::make_unique<L1Cache>(options.l1));
    l1s.push_back(l1s_.back().get());
    cores_.push_back(std::make_unique<Core>(core, OptionsOf(options, core, source.cores()), limits,
                                            source, *l1s_.back(), static_cast<CorePort*>(this)));
  }
  core_next_.assign(cores_.size(), 0);
  L2Options l2 = options.l2;
  l2.has_shadow = !units_.empty();
  l2_ = std::make_unique<L2Cache>(l2, mesh_, l1s, static_cast<L2Port*>(this));
  for (int channel = 0; channel < channels_; ++channel) {
    ControllerOptions controller = options.controller;
    controller.skips = options.skips;
    if (options.on_command) {
      controller.on_command = [this, channel](const IssuedCommand& issued) {
        options_.on_command(channel, issued);
      };
    }
    ports_.push_back(std::make_unique<MemoryPort>(channel, preset, map_, controller, options.port,
                                                  static_cast<PortClient*>(this)));
  }
  if (options.epoch_clocks > 0) epoch_end_ = options.epoch_clocks * tck_;
  for (size_t unit = 0; unit < units_.size(); ++unit) unit_next_[unit] = units_[unit]->NextEvent();
  begin_.channels.resize(ports_.size());
  epoch_.channels.resize(ports_.size());
}

Result<RunResult> Machine::Run() {
  const auto started = std::chrono::steady_clock::now();
  FastForward();
  while (status_.ok() && Advance()) {
  }
  if (!status_.ok()) return status_;
  Settle();
  RunResult result = ResultOf();
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

bool Machine::Learn(int64_t ops) {
  std::vector<Record> marks;
  for (int64_t op = 0; op < ops; ++op) {
    const auto core = static_cast<int>(op % static_cast<int64_t>(cores_.size()));
    const Result<bool> is_there = source_.NextMarks(core, &marks);
    if (!is_there || !is_there.value()) {
      has_run_out_ = static_cast<bool>(is_there);
      status_ = is_there ? EndsInFastForward(core) : is_there.error();
      return false;
    }
    for (const Record& mark : marks) PassOver(core, mark);
  }
  return true;
}

// Cores take turns, an operation each. As many operations as L2 has lines fill it, so that of those
// before them hardly anything is left but what was learnt: a line that was written then and only
// read since would still have to be written back.
void Machine::FastForward() {
  const int64_t filling = options_.l2.shape.lines();
  int64_t op = source_.has_marks() ? std::max<int64_t>(0, options_.fast_forward_ops - filling) : 0;
  if (!Learn(op)) return;
  for (; op < options_.fast_forward_ops; ++op) {
    const auto core = static_cast<size_t>(op) % cores_.size();
    const Status status = cores_[core]->PassOverOp(
        [this, core](const Record& record) { PassOver(static_cast<int>(core), record); });
    if (!status.ok()) {
      has_run_out_ = cores_[core]->status().ok();
      status_ = status;
      return;
    }
  }
  if (options_.fast_forward_ops == 0) return;
  l2_->EndPassOver();
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    units_[unit]->OnWarmupEnd();  // so is this; there may be another behind it
    unit_next_[unit] = units_[unit]->NextEvent();
  }
}

void Machine::PassOver(int core, const Record& record) {
  if (record.IsAccess()) {
    const uint64_t first = record.addr / kLineBytes;
    for (int line = 0; line < LinesOf(record); ++line) {
      l2_->PassOver(first + static_cast<uint64_t>(line), record.kind == RecordKind::kWrite);
    }
  } else if (record.kind == RecordKind::kHit && !units_.empty()) {
    const auto unit = static_cast<size_t>(ChannelOf(table_line_ + record.aux));
    units_[unit]->OnMark(record, core, 0);
  } else {
    table_->Apply(record);
  }
}

bool Machine::Advance() {
  const auto core = std::min_element(core_next_.begin(), core_next_.end());
  const auto unit = std::min_element(unit_next_.begin(), unit_next_.end());
  const Time unit_time = unit == unit_next_.end() ? kNever : *unit;
  MemoryPort* port = ports_.front().get();
  for (const auto& other : ports_) {
    if (other->next() < port->next()) port = other.get();
  }
  const Time now = std::min({epoch_end_, port->next(), events_.next(), unit_time, *core});
  if (is_settling_ && events_.is_empty()) {
    const bool is_idle =
        std::all_of(ports_.begin(), ports_.end(), [](const auto& p) { return p->is_idle(); });
    if (is_idle) return false;
  }
  WEFT_CHECK(now != kNever);
  if (epoch_end_ == now) {
    EndEpoch();
  } else if (port->next() == now) {
    port->Tick();
  } else if (events_.next() == now) {
    Deliver(events_.Take());
  } else if (unit_time == now) {
    AdvanceUnit(static_cast<size_t>(unit - unit_next_.begin()), now);
  } else {
    StepCore(static_cast<size_t>(core - core_next_.begin()), now);
  }
  return true;
}

void Machine::StepCore(size_t number, Time now) {
  Core& core = *cores_[number];
  core.Step();
  core_next_[number] = core.next();
  if (!core.status().ok()) {
    status_ = core.status();
  } else if (core.is_done() && --cores_left_ == 0) {
    EndMeasurement(now);
  }
}

void Machine::AdvanceUnit(size_t unit, Time now) {
  asked_.clear();
  units_[unit]->AdvanceTo(now, &asked_);
  unit_next_[unit] = units_[unit]->NextEvent();
  for (const AskedLine& asked : asked_) SendAsked(unit, asked, now);
}

void Machine::SendAsked(size_t unit, const AskedLine& asked, Time now) {
  ++prefetch_.asked;
  const Asker asker{static_cast<int>(unit), asked.id};
  if (asked.line >= map_.lines()) {
    OnOutcome(PrefetchOutcome::kDropped);
    OnAsked(asker, true, now);
    return;
  }
  if (free_askers_.empty()) {
    free_askers_.push_back(static_cast<uint32_t>(askers_.size()));
    askers_.emplace_back();
  }
  const uint32_t index = free_askers_.back();
  free_askers_.pop_back();
  askers_[index] = asker;
  const int channel = ChannelOf(asked.line);
  Event event{.request = {.line = asked.line}, .index = index, .kind = EventKind::kAsked};
  event.at = static_cast<uint8_t>(channel);
  event.time = mesh_.Arrival(Packet::kControl, NodeOfChannel(static_cast<int>(unit)),
                             NodeOfChannel(channel), std::max(asked.ready, now));
  events_.Send(event);
}

void Machine::Settle() {
  l2_->DropPushed();
  for (const auto& port : ports_) {
    port->DropBuffered();
    port->WriteOut();
    port->CheckConservation();
  }
  WEFT_CHECK(l2_->pending() == 0 && free_marks_.size() == marks_.size() &&
             free_askers_.size() == askers_.size());
  int64_t outcomes = 0;
  for (const int64_t count : prefetch_.outcomes) outcomes += count;
  WEFT_CHECK(outcomes == prefetch_.asked);
}

}  // namespace weft::sim
