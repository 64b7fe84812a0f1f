// server/notify.h: tells the service manager how far the server is: systemd's Type=notify.
//
// systemd names a datagram socket in $NOTIFY_SOCKET and reads lines of NAME=VALUE from it. Nothing
// but that socket is needed, so no library is linked.
//
// Threads   OpenNotify: once, before the others, and before signals may come. NotifyManager: any,
//           and signal handlers.
// Errors    none are returned: without a manager nothing is said, and whoever does not listen is no
//           reason not to serve.
// Source    sd_notify(3), "Notes".
#pragma once

#include <string_view>

namespace weft::server {

void OpenNotify();

// "READY=1" and the like, lines with a line feed between.
void NotifyManager(std::string_view state);

// That what is running reads its files again, and that it has.
void NotifyReloading();
inline void NotifyReady() { NotifyManager("READY=1"); }
inline void NotifyStopping() { NotifyManager("STOPPING=1"); }

}  // namespace weft::server
