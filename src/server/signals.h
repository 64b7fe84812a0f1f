// server/signals.h: which signals end a server, and which do not.
//
//   SIGINT, SIGTERM, SIGUSR1   the first ends it gracefully; another, a second later or more, ends
//                              it at once
//   SIGHUP                     has files read again (Server::Reload); without any, nothing
//   SIGPIPE                    nothing: the write that caused it fails.
// A signal to end that was ignored when the program was started stays ignored, so that nohup and a
// shell's `&` work.
//
// Threads   built and destroyed by the main thread, one at a time. The handlers run on any thread:
//           they touch the server only while this object waits for them.
#pragma once

#include "server/server.h"

namespace weft::server {

// Holds as soon as a server is being started.
void IgnoreSignalsOfOthers();

// While it lives, the signals above reach `server`, which outlives it. After it, they end the
// process, because that was asked for by then.
class StopSignals {
 public:
  explicit StopSignals(Server* server);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

}  // namespace weft::server
