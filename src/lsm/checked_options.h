// lsm/checked_options.h: a store's options, checked once when it is opened.
#pragma once

#include "weft/db_options.h"
#include "weft/status.h"

namespace weft::lsm {

// The options, with sizes moved silently into LevelDB's limits, as LevelDB does. Defaults that
// depend on the machine are filled in; kInvalidArgument for what makes no sense.
Result<DbOptions> CheckedOptions(DbOptions options);

}  // namespace weft::lsm
