// sim/help_column.h: where the texts of options begin in the help of weft-sim and weft-record.
#pragma once

#include <cstddef>

namespace weft::sim {

// Wide enough that two blanks at least part a text from its option, which with CLI11's 30 is not so
// of --noc and --dest.
inline constexpr size_t kHelpColumn = 31;

}  // namespace weft::sim
