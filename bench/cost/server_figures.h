// bench/cost/server_figures.h: the figures of one server in one case: throughput, latency,
// operations a joule, and servers and dollars for a target throughput. Each repetition has its own
// figures, so each figure has a range.
//
// Power     --server's watts, if given: a model, U * P_a + (1 - U) * P_i. U is as given, or the CPU
//           seconds of the store's processes over those of the machine. Otherwise the mean measured
//           over the run, busy and idle moments alike. The processor's own counter sees no GPU, so
//           a GPU's joules are added to it; a meter of the whole server sees all.
// Units     as named.
// Threads   values; pure functions.
// Errors    a figure that can't be had is unavailable, with the reason; kInvalidArgument if a cost
//           can't be computed from what was given.
// Source    paper 002, chapters 4.1 and 5.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/cost/compare_options.h"
#include "bench/cost/cost.h"
#include "bench/cost/figure.h"
#include "bench/cost/result_file.h"
#include "weft/status.h"

namespace weft::bench {

// Dollars an hour for the target throughput, all servers together.
struct CostPoint {
  std::optional<Dollars> price;  // neither: energy alone, C_e
  std::optional<Years> lifetime;
  DollarsPerKilowattHour electricity;
  Figure dollars_per_h;
};

struct ServerFigures {
  std::string server, machine, title, load;
  Figure throughput_per_s;
  std::map<std::string, Figure> latency_us;  // "p50", ...
  Figure operations_per_j;
  Figure power_w;  // of one server
  Figure servers;  // for the target throughput
  std::vector<CostPoint> costs;
  std::vector<std::string> notes;  // wrong answers, a saturated client, settings that differ
  bool is_sound = true;            // throughput and latency are the store's, and answers right
  std::string command_line;        // of the first repetition
};

// REQUIRES: !runs.empty(), checked options
Result<ServerFigures> FiguresOf(const std::string& server, const std::vector<ResultRun>& runs,
                                const ServerSpec& spec, const CompareOptions& options);

// The mean power of a server in a run, and how it is known.
Figure PowerOf(const std::vector<ResultRun>& runs, const ServerSpec& spec,
               const CompareOptions& options);

}  // namespace weft::bench
