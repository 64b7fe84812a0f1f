// sim/generator/refuse.h: the answer to options of a workload that none has.
#pragma once

#include <string>

#include "weft/status.h"

namespace weft::sim {

inline Status Refuse(const std::string& what) { return {Code::kInvalidArgument, what}; }

}  // namespace weft::sim
