// bench/cost/compare_options.h: the options of a comparison of servers, beyond their results.
//
// Units     as named; quantities once they are checked.
// Threads   values; pure functions.
// Errors    kInvalidArgument, naming the option.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cost/units.h"
#include "weft/status.h"

namespace weft::bench {

// What is known of a server, beyond its results.
struct ServerSpec {
  std::string name;
  std::optional<Dollars> price;
  std::optional<Watts> idle, busy;  // both or neither
};

// "NAME=price,idle_w,busy_w" or "NAME=price"; "NAME=,idle_w,busy_w" leaves the price open.
Result<ServerSpec> ParseServerSpec(std::string_view text);

struct CompareOptions {
  std::vector<std::string> files;          // "NAME=PATH", or "PATH": the name is then the file's
  double target_throughput_per_s = 100e6;  // paper 002's
  std::vector<double> prices;              // dollars a server, for servers without their own
  std::vector<double> lifetimes_years = {3, 5};  // likewise, as the next
  std::vector<double> electricity_dollars_per_kwh = {0.07, 0.25};
  std::vector<std::string> servers;   // for ParseServerSpec
  std::optional<double> utilization;  // 0 to 1, of all servers; none: as measured
  bool best_load = false;             // each server at the best load: that at which it does most
  bool by_target = false;             // a file's targets stand for servers
  std::string json;                   // also writes the result here; empty: nowhere
};

// Checks that the numbers are in range.
Status CheckOptions(const CompareOptions& options);

}  // namespace weft::bench
