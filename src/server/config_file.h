// server/config_file.h: flags from a file, in the form of Debian's /etc/memcached.conf.
//
// A line is a flag and its value, with a blank between: `-m 64`. A word that begins with # begins a
// comment. `logfile ...`, `-d` and `-h` are passed over, as Debian's own start of memcached does:
// whoever starts the server decides about those.
//
// Threads   any.
// Errors    kNotFound, kIoError: the file can't be read. kInvalidArgument: a line is no flag.
#pragma once

#include <string>
#include <vector>

#include "weft/status.h"

namespace weft::server {

// `words` with those of each file in the place of its --config FILE. So what is given behind it
// goes before what the file says.
Result<std::vector<std::string>> WithConfigFiles(const std::vector<std::string>& words);

}  // namespace weft::server
