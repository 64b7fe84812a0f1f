// bench/workload/mix_file.h: workloads that a user describes in a TOML file, a table [[workload]]
// each. bench/workload/example.toml has every field, with its default.
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

// At least one; their names differ from each other and from the built-in ones.
Result<std::vector<OperationMix>> ParseMixFile(const std::string& path);
// The same for the file's text; `path` is for messages.
Result<std::vector<OperationMix>> ParseMixText(std::string_view text, const std::string& path);
// Was it built with toml++?
bool MixFilesAreSupported();

}  // namespace weft::bench
