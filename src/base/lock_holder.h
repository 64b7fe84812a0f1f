// base/lock_holder.h: who holds a lock of a file, for messages.
//
// Threads   any.
// Cost      looks through the open files of all processes: only for who was refused.
#pragma once

#include <string>

#include "weft/status.h"

namespace weft::base {

// kRetryLater: `path`, a lock file that `fd` has open, is locked by whoever this finds.
Status LockedByAnother(const std::string& path, int fd);

}  // namespace weft::base
