// sim/dram/replay.h: plays a trace on a memory, and says what came of it.
//
// Figures, of each channel by its number: num_reads_done, num_writes_done; num_act_cmds,
// num_pre_cmds, num_read_cmds, num_write_cmds, num_ref_cmds; num_read_row_hits, num_write_row_hits;
// average_read_latency (clocks from acceptance to the last data); average_bandwidth (GB/s over all
// clocks); average_power (mW over all clocks); energy_nj by what used it. Beside them, read_latency
// has percentiles (latency_counts.h) of the same latencies as average_read_latency; and
// read_latency_from_trace_clock has mean and percentiles from the clock in the trace on, so that
// waiting for the queue counts too. What can't be known is null: latency without reads, power
// without currents.
//
// Where there are any: num_refb_cmds (REFpb); powered_down_rank_clocks; of a write buffer
// num_writes_merged (to a line that it had) and num_reads_from_buffer. The end of the clocks cuts
// off num_reads_unserved and num_writes_unserved, which were accepted and the memory doesn't have,
// and num_reads_not_accepted and num_writes_not_accepted.
//
// A write is done once a write buffer has it, as in DRAMsim3. So it may be in both num_writes_done
// and num_writes_unserved, and average_bandwidth is of all that is done.
//
// Threads   one owner.
// Errors    dramsim3_trace.h's.
// Source    the simulator's specification, section 4.2. Names are DRAMsim3's, so that outputs can
//           be compared.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/base/time.h"
#include "sim/dram/dramsim3_trace.h"
#include "sim/dram/latency_counts.h"
#include "sim/dram/memory.h"
#include "weft/status.h"

namespace weft::sim {

// Of a channel.
struct ChannelReplay {
  LatencyCounts read_latency;              // from acceptance to done
  LatencyCounts latency_from_trace;        // ... from the clock in the trace
  Controller::Unserved unserved = {};      // accepted
  Controller::Unserved not_accepted = {};  // of all of the trace
};

struct Replayed {
  std::vector<ChannelReplay> channels;
  int64_t requests = 0;  // of the trace
  // Cut off by the end of the clocks, of all channels.
  int64_t unserved = 0;
  int64_t not_accepted = 0;
};

// Performs `clocks` clocks; kNever: until all is served. What the trace has later is read and
// counted.
Result<Replayed> Replay(Dramsim3Trace& trace, Memory& memory, Clock clocks = kNever);

// Of all clocks before the channels' now().
nlohmann::ordered_json Figures(const Preset& preset, Memory& memory, const Replayed& replayed);

}  // namespace weft::sim
