// bench/workload/mix_file.h: workloads that a user describes in a TOML file:
//
//     [[workload]]
//     name = "sessions"
//     operations = { read = 0.7, update = 0.2, insert = 0.1 }
//     keys = "scrambled-zipf 0.99"                 # key_distribution.h; uniform where there is
//     none records = 5000000                            # 1,000,000 key_bytes = 32 #
//     size_distribution.h; 24 value_bytes = "pareto 214.476 0.348238 8 1048576"   # 1000 ordered =
//     true                               # keys in the order of their numbers; false scan_length =
//     "uniform 1 100"                # size_distribution.h; so rate = "1000 for 10s, 5000 for 5s"
//     # rate_schedule.h; none
//
// Threads   pure.
// Errors    kInvalidArgument: "file:line: workload.field: what is wrong". kIoError: the file cannot
//           be read. kUnsupported: weft-bench was built without toml++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/workload/mix.h"
#include "weft/status.h"

namespace weft::bench {

// At least one; their names differ from each other and from those that are built in.
Result<std::vector<OperationMix>> ParseMixFile(const std::string& path);
// The same of the file's text; `path` is for messages.
Result<std::vector<OperationMix>> ParseMixText(std::string_view text, const std::string& path);
// Was it built with toml++?
bool MixFilesAreSupported();

}  // namespace weft::bench
