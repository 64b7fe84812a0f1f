// server/log.h: the server's log: one line a message on stderr, through spdlog.
//
// A terminal gets coloured levels; a file or a journal gets plain text. No time stands in a line:
// whoever keeps the log (journald, a container's engine) adds its own.
//
// Threads   StartLog: once, before others log. The rest: any.
#pragma once

namespace weft::server {

// Sets the log up. `verbosity` as -v counts it.
void StartLog(int verbosity);

// 0: starts, stops and warnings. 1: debugging. 2 and more: everything.
void SetLogLevel(int verbosity);

}  // namespace weft::server
