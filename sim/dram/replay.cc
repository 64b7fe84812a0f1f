#include "sim/dram/replay.h"

#include <string>

#include "sim/dram/energy.h"

namespace weft::sim {
namespace {

nlohmann::ordered_json ChannelFigures(const Preset& preset, Controller& channel) {
  const ControllerCounts counts = channel.Counts();
  const double time_ns = static_cast<double>(channel.now()) * preset.timing.tck_ns;
  nlohmann::ordered_json figures = {
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
  if (counts.bank_refreshes > 0) figures["num_refb_cmds"] = counts.bank_refreshes;
  if (counts.powered_down_rank_clocks > 0) {
    figures["powered_down_rank_clocks"] = counts.powered_down_rank_clocks;
  }
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
  return figures;
}

}  // namespace

Status Replay(Dramsim3Trace& trace, Memory& memory, Clock clocks) {
  for (uint64_t id = 0;; ++id) {
    const auto next = trace.Next();
    if (!next) return next.error();
    if (!next.value()) break;
    const TraceRequest& request = *next.value();
    const Clock accepted = memory.Accept(id, request.line, request.is_write, request.clock, clocks);
    if (accepted == Memory::kNone) break;
    memory.channel(memory.map().PlaceOf(request.line).channel).completions().clear();
  }
  memory.AdvanceTo(clocks);
  return Status::Ok();
}

nlohmann::ordered_json Figures(const Preset& preset, Memory& memory) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();
  for (int channel = 0; channel < memory.channels(); ++channel) {
    figures[std::to_string(channel)] = ChannelFigures(preset, memory.channel(channel));
  }
  return figures;
}

}  // namespace weft::sim
