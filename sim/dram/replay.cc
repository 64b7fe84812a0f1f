#include "sim/dram/replay.h"

#include <string>
#include <utility>

#include "sim/dram/energy.h"

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;

// Null of none.
Json PercentilesOf(const LatencyCounts& latencies) {
  if (latencies.count() == 0) return nullptr;
  return {{"p50", latencies.Percentile(500)},
          {"p90", latencies.Percentile(900)},
          {"p99", latencies.Percentile(990)},
          {"p99.9", latencies.Percentile(999)},
          {"max", latencies.Percentile(1000)}};
}

void AddLatencies(const ChannelReplay& replayed, Json* figures) {
  (*figures)["read_latency"] = PercentilesOf(replayed.read_latency);
  Json from_trace = PercentilesOf(replayed.latency_from_trace);
  if (!from_trace.is_null()) from_trace["mean"] = replayed.latency_from_trace.mean();
  (*figures)["read_latency_from_trace_clock"] = std::move(from_trace);
}

void AddWhereAny(const ControllerCounts& counts, const ChannelReplay& replayed, Json* figures) {
  const std::pair<const char*, int64_t> some[] = {
      {"num_refb_cmds", counts.bank_refreshes},
      {"powered_down_rank_clocks", counts.powered_down_rank_clocks},
      {"num_writes_merged", counts.writes_merged},
      {"num_reads_from_buffer", counts.buffer_reads},
      {"num_reads_unserved", replayed.unserved.reads},
      {"num_writes_unserved", replayed.unserved.writes},
      {"num_reads_not_accepted", replayed.not_accepted.reads},
      {"num_writes_not_accepted", replayed.not_accepted.writes}};
  for (const auto& [name, count] : some) {
    if (count > 0) (*figures)[name] = count;
  }
}

// Of the requests that are done since the last call.
void TakeLatencies(Controller& channel, ChannelReplay& replayed) {
  for (const Completion& completion : channel.completions()) {
    if (completion.is_write) continue;
    replayed.read_latency.Add(completion.done - completion.accepted);
    replayed.latency_from_trace.Add(completion.done - static_cast<Clock>(completion.id));
  }
  channel.completions().clear();
}

Json ChannelFigures(const Preset& preset, Controller& channel, const ChannelReplay& replayed) {
  const ControllerCounts counts = channel.Counts();
  const double time_ns = static_cast<double>(channel.now()) * preset.timing.tck_ns;
  Json figures = {
      {"num_cycles", channel.now()},
      {"num_reads_done", counts.reads_done},
      {"num_writes_done", counts.writes_done},
      {"num_act_cmds", counts.activates},
      {"num_pre_cmds", counts.precharges},
      {"num_read_cmds", counts.read_bursts},
      {"num_write_cmds", counts.write_bursts},
      {"num_ref_cmds", counts.refreshes},
      {"num_read_row_hits", counts.read_row_hits},
      {"num_write_row_hits", counts.write_row_hits},
      {"average_read_latency", nullptr},
      {"average_bandwidth", nullptr},
      {"average_power", nullptr},
  };
  AddWhereAny(counts, replayed, &figures);
  if (counts.reads_done > 0) {
    figures["average_read_latency"] =
        static_cast<double>(counts.read_latency_clocks) / static_cast<double>(counts.reads_done);
  }
  if (channel.now() > 0) {
    const int64_t bytes = (counts.reads_done + counts.writes_done) * kLineBytes;
    figures["average_bandwidth"] = static_cast<double>(bytes) / time_ns;  // B/ns = GB/s
  }
  if (preset.currents && channel.now() > 0) {
    const Energy energy =
        EnergyOf(CostsOf(preset.organization, preset.timing, *preset.currents), counts);
    figures["average_power"] = energy.total_nj() / time_ns * 1000;  // nJ/ns = W
    figures["energy_nj"] = {{"activate", energy.activate_nj},
                            {"read", energy.read_nj},
                            {"write", energy.write_nj},
                            {"refresh", energy.refresh_nj},
                            {"background", energy.background_nj}};
  }
  AddLatencies(replayed, &figures);
  return figures;
}

}  // namespace

Result<Replayed> Replay(Dramsim3Trace& trace, Memory& memory, Clock clocks) {
  Replayed replayed;
  replayed.channels.resize(static_cast<size_t>(memory.channels()));
  bool is_over = false;
  while (true) {
    const auto next = trace.Next();
    if (!next) return next.error();
    if (!next.value()) break;
    const TraceRequest& request = *next.value();
    const int channel = memory.map().PlaceOf(request.line).channel;
    ChannelReplay& of_channel = replayed.channels[static_cast<size_t>(channel)];
    ++replayed.requests;
    // The clock in the trace is the request's number, from which its latency is told.
    const auto id = static_cast<uint64_t>(request.clock);
    is_over = is_over || memory.Accept(id, request.line, request.is_write, request.clock, clocks) ==
                             Memory::kNone;
    if (is_over) {
      ++replayed.not_accepted;
      ++(request.is_write ? of_channel.not_accepted.writes : of_channel.not_accepted.reads);
    }
    TakeLatencies(memory.channel(channel), of_channel);
  }
  if (!is_over) memory.EndRequests();
  if (clocks == kNever) {
    memory.AdvanceUntilServed();
  } else {
    memory.AdvanceTo(clocks);
  }
  for (int channel = 0; channel < memory.channels(); ++channel) {
    ChannelReplay& of_channel = replayed.channels[static_cast<size_t>(channel)];
    TakeLatencies(memory.channel(channel), of_channel);
    of_channel.unserved = memory.channel(channel).CountUnserved();
    replayed.unserved += of_channel.unserved.reads + of_channel.unserved.writes;
  }
  return replayed;
}

nlohmann::ordered_json Figures(const Preset& preset, Memory& memory, const Replayed& replayed) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();
  for (int channel = 0; channel < memory.channels(); ++channel) {
    figures[std::to_string(channel)] = ChannelFigures(
        preset, memory.channel(channel), replayed.channels[static_cast<size_t>(channel)]);
  }
  return figures;
}

}  // namespace weft::sim
