// tests/linearizability/driver.h: the loop that both drivers share: make histories, check them,
// report.
//
//   --histories N    how many (default 50)       --seed S  the first (default: drawn, printed)
//   --seconds-max T  stop early after T seconds  --long    1000 histories
//   --without VERB   never draw this verb, to narrow a violation down
//
// Exit status: 0 all linearizable, 1 a violation (its story is printed), 2 wrong arguments.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "linearizability/checker.h"
#include "linearizability/history.h"

namespace weft::linearizability {

struct DriverOptions {
  uint64_t histories = 50;
  uint64_t seed = 0;
  double seconds_max = 3600;
  std::string without;
  std::vector<std::string> rest;  // the driver's own arguments
};

// Reads the common arguments; if they are wrong, ends the program with a message.
DriverOptions ParseArguments(int argc, char** argv);

// One history, and how to judge it.
struct MadeHistory {
  History history;
  bool evicting = false;
  std::string setting;  // shown with a violation
};

// Makes and checks histories seed, seed+1, ...; returns the exit status.
int RunHistories(const DriverOptions& options,
                 const std::function<MadeHistory(uint64_t seed)>& make);

// Nanoseconds on one monotonic clock.
inline int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace weft::linearizability
