// sim/dram/replay.h: plays a trace on a memory, and says what came of it.
//
// Figures, of each channel by its number: num_reads_done, num_writes_done, num_act_cmds,
// num_pre_cmds, num_read_cmds, num_write_cmds, num_ref_cmds, num_read_row_hits,
// num_write_row_hits, average_read_latency (clocks from acceptance to the last data),
// average_bandwidth (GB/s over all clocks), average_power (mW over all clocks) and energy_nj by
// what used it. Where there are any: num_refb_cmds (REFpb) and powered_down_rank_clocks. What can't
// be told is null: latency without reads, power without currents.
//
// Threads   one owner.
// Errors    those of dramsim3_trace.h.
// Source    the simulator's specification, section 4.2. Names are DRAMsim3's, so that outputs can
//           be compared.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/dram/dramsim3_trace.h"
#include "sim/dram/memory.h"
#include "weft/status.h"

namespace weft::sim {

// Performs `clocks` clocks, or until the trace has an error. What the trace has later is not read.
Status Replay(Dramsim3Trace& trace, Memory& memory, Clock clocks);

// Of all clocks before the channels' now().
nlohmann::ordered_json Figures(const Preset& preset, Memory& memory);

}  // namespace weft::sim
