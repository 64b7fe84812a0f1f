#include "server/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"

namespace weft::server {
namespace {

// Of the process, for handlers of signals, too: set before any may come.
int notify_fd = -1;
sockaddr_un notify_address = {};
socklen_t notify_bytes = 0;

}  // namespace

void OpenNotify() {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  const size_t bytes = std::strlen(path);
  if (bytes >= sizeof notify_address.sun_path) return;
  notify_address.sun_family = AF_UNIX;
  std::memcpy(notify_address.sun_path, path, bytes);
  if (path[0] == '@') notify_address.sun_path[0] = '\0';  // of the abstract name space
  notify_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes);
  if (notify_fd >= 0) close(notify_fd);
  notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

void NotifyManager(std::string_view state) {
  if (notify_fd < 0) return;
  (void)sendto(notify_fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&notify_address), notify_bytes);
}

void NotifyReloading() {
  NotifyManager("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(base::NowNs() / 1000));
}

}  // namespace weft::server
