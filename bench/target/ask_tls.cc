#include "bench/target/ask_tls.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

#include "base/posix_fd.h"

namespace weft::bench {

Result<std::string> AskTls(const TlsIdentity& identity, const Address& address,
                           std::string_view request,
                           const std::function<bool(std::string_view)>& whole, int patience_s) {
  auto fd = Connect(address);
  if (!fd) return fd.error();
  const timeval patience{patience_s, 0};
  setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  auto line = identity.Connect(fd->get());
  if (!line) return line.error();
  if ((*line)->Send(request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    return Status::FromErrno("send to " + address.ToString(), errno);
  std::string answer;
  char text[4096];
  while (!whole(answer)) {
    const ssize_t got = (*line)->Receive(text, sizeof text);
    if (got < 0) return Status::FromErrno("receive from " + address.ToString(), errno);
    if (got == 0)
      return Status(Code::kIoError, address.ToString() + " closed the connection unexpectedly");
    answer.append(text, static_cast<size_t>(got));
  }
  return answer;
}

}  // namespace weft::bench
