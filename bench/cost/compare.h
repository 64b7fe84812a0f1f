// bench/cost/compare.h: compares servers on the same work, pair by pair: which does more, answers
// sooner, does more a joule, costs less, and at which price one is worth the other.
//
// A server is a file of results; a server with a GPU is one like any other. Within a file,
// repetitions are the runs of one experiment, target, workload and load. Between files, runs of the
// same experiment, target and workload are compared, at the same load or each server at its best.
// With `by_target` the targets of a file are compared, as if each were a server: TARGET, or
// NAME/TARGET if there are several files.
//
// Errors    kInvalidArgument: a wrong option or line of a file; a --server that no file is; nothing
//           to compare. kIoError: a file that can't be read.
// Threads   one at a time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/cost/server_figures.h"

namespace weft::bench {

// At these prices both servers cost the same; the first price is given, the second follows.
struct BreakEven {
  size_t priced = 0, other = 0;  // servers of the case, by index
  Dollars price;
  Dollars other_price;  // below 0: no price is low enough
  Years lifetime;
  DollarsPerKilowattHour electricity;
};

// Two servers of a case, by index.
struct ServerPair {
  size_t first = 0, second = 0;
  std::vector<std::pair<std::string, Comparison>> comparisons;  // "throughput", "p99", ...
  std::vector<BreakEven> break_even;                            // from medians
  std::string no_break_even;                                    // why there is none
};

struct ComparedCase {
  std::string experiment, target, workload;
  std::string load;  // "each at its best" with best_load
  std::vector<ServerFigures> servers;
  std::vector<ServerPair> pairs;
};

struct CompareResult {
  std::vector<ComparedCase> cases;
  std::vector<std::string> notes;  // what was not compared
};

// The results of a server under its name.
struct ServerResults {
  std::string name;
  std::vector<ResultRun> runs;
};

Result<CompareResult> CompareServers(const std::vector<ServerResults>& servers,
                                     const CompareOptions& options);
// Reads options.files first.
Result<CompareResult> CompareFiles(const CompareOptions& options);

}  // namespace weft::bench
