// lsm/checked_options.h: options of a store, looked at once when it is opened.
#pragma once

#include "weft/db_options.h"
#include "weft/status.h"

namespace weft::lsm {

// The options with sizes moved into their limits (LevelDB's, silently, as LevelDB does) and
// defaults that depend on the machine filled in. kInvalidArgument for what makes no sense.
Result<DbOptions> CheckedOptions(DbOptions options);

}  // namespace weft::lsm
