// lsm/lost_current.h: tells a folder that holds no store from one whose file CURRENT was lost.
//
// Threads   any.
// Errors    kCorruption names CURRENT, and what is there in spite of that; those of the folder, and
//           of CURRENT, which may be there and be nobody's to look at.
#pragma once

#include <string>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// For a folder where CURRENT was not found: kCorruption where there are tables, logs or manifests
// of a store. The first manifest alone may be what a creation that was cut short has left. Ok for
// no folder.
Status CheckCurrentIsNotLost(FileSystem* files, const std::string& dir);

}  // namespace weft::lsm
