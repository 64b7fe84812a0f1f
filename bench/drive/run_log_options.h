// bench/drive/run_log_options.h: where runs are reported, besides standard output.
//
// Threads   a value.
#pragma once

#include <string>

namespace weft::bench {

// Paths; empty: none. `json` and `csv` are appended to.
struct RunLogOptions {
  std::string json = {};
  std::string csv = {};
  std::string hdr_folder = {};
};

}  // namespace weft::bench
