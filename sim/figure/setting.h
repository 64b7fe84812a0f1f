// sim/figure/setting.h: the same experiment with other options: every combination, or one option at
// a time.
//
// Threads   pure.
// Errors    kInvalidArgument: no OPTION=VALUE,..., or no such option or value of `weft-sim run`, or
//           an option that changes nothing of a case, such as the seed.
#pragma once

#include <string>
#include <vector>

#include "sim/figure/runner.h"

namespace weft::sim {

struct Setting {
  std::string name;  // "map=scheme2 plain-cpi=0.5"; empty: the base's
  Case of;
};

// `over`: "map=rank-il,scheme2". All combinations; or, if one_at_a_time, the base, and then each
// value of each option alone.
Result<std::vector<Setting>> SettingsOf(const Case& base, const std::vector<std::string>& over,
                                        bool one_at_a_time);

}  // namespace weft::sim
