// server/signals.h: which signals end a server, and which do not.
//
//   SIGINT, SIGTERM, SIGUSR1   the first ends it gracefully; another, a second later or more, ends
//                              it at once
//   SIGHUP                     changes nothing: there is no file to read again (memcached has one)
//   SIGPIPE                    nothing: the write that it tells of fails
// One that was ignored when the program was started stays ignored, so that nohup and a shell's
// `&` do what they are for.
//
// Threads   built and destroyed by the main thread, of which it is one at a time. The handlers run
//           on any thread: they touch the server only while this object waits for them.
#pragma once

#include "server/server.h"

namespace weft::server {

// What holds as soon as a server is being started.
void IgnoreSignalsOfOthers();

// While it lives, the signals above end `server`, which outlives it. When it is gone, they end the
// process, for that was asked for by then.
class StopSignals {
 public:
  explicit StopSignals(Server* server);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

}  // namespace weft::server
