// sim/base/help_column.h: where the texts of options begin in the help of weft-sim and weft-record.
#pragma once

#include <cstddef>

namespace weft::sim {

// Wide enough for at least two blanks between an option and its text. CLI11's 30 is too small for
// --noc and --dest.
inline constexpr size_t kHelpColumn = 31;

}  // namespace weft::sim
