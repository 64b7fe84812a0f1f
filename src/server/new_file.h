// server/new_file.h: a small file that others wait for: it appears whole, or stays as it was.
//
// Its folder may be open to all. The text goes into a new file beside the name, which is renamed: a
// link with that name is replaced and never followed.
//
// Threads   any.
// Errors    kInvalidArgument: there is something other than a file. kIoError: the system's reason.
#pragma once

#include <string>

#include "weft/status.h"

namespace weft::server {

// `what` names the file in complaints: "the pid file".
Status WriteNewFile(const std::string& what, const std::string& path, const std::string& text);

}  // namespace weft::server
