// server/serve.h: `weft serve`: reads its options, asks the system for what a server needs, runs
// it.
//
// Threads   one at a time; it starts the server's own.
// Errors    one line on stderr, or in the log once there is one, says why it did not serve.
#pragma once

#include <string>
#include <vector>

namespace weft::server {

// The exit status of a command line that can't be read. That of memcached.
inline constexpr int kBadUsage = 1;

// Serves until it is told to stop, or prints what the options ask for. `words`: those behind
// `weft serve`. The exit status: 0 it served, or printed; kBadUsage; otherwise one of sysexits.h.
int Serve(const std::vector<std::string>& words);

}  // namespace weft::server
