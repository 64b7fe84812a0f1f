#include "tool/top/server_line.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "tool/top/terminal.h"

namespace weft::tool {
namespace {

constexpr uint16_t kPort = 11211;

struct Place {
  std::string host;  // as a certificate names it
  std::vector<net::SocketAddress> addresses;
};

Result<Place> PlaceOf(const std::string& text) {
  if (text.find('/') != text.npos) {
    auto address = net::UnixAddress(text);
    if (!address) return address.error();
    return Place{"localhost", {*address}};
  }
  auto where = net::ParseHostPort(text, kPort);
  if (!where) return where.error();
  if (where->host.empty()) where->host = "127.0.0.1";
  auto addresses = net::ResolveForListening(*where);
  if (!addresses) return addresses.error();
  return Place{where->host, std::move(*addresses)};
}

}  // namespace

void ServerLine::BeginToWait() {
  deadline_ns_ = base::NowNs() + uint64_t{kPatienceS} * 1'000'000'000;
}

Result<ServerLine> ServerLine::Connect(const ServerAccess& access) {
  auto place = PlaceOf(access.address);
  if (!place) return place.error();
  Status failure = {Code::kIoError, "no address for " + access.address};
  for (const net::SocketAddress& each : place->addresses) {
    auto line = ConnectTo(each);
    if (!line) {
      failure = line.error();
      continue;
    }
    if (!access.tls) return line;
    failure = line->BeginTls(access.tls_options, place->host);
    if (failure.ok()) return line;
  }
  return failure;
}

Result<ServerLine> ServerLine::ConnectTo(const net::SocketAddress& address) {
  ServerLine line(
      base::Fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (!line.socket_.valid()) return Status::FromErrno("socket", errno);
  line.BeginToWait();
  int error = connect(line.socket_.get(), address.get(), address.bytes) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    if (Status status = line.Wait(POLLOUT); !status.ok())
      return Status(Code::kIoError, "cannot connect to " + address.ToString() + ": " +
                                        std::string(status.message()));
    socklen_t bytes = sizeof error;
    if (getsockopt(line.socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  }
  if (error == 0) return line;
  const Status status = Status::FromErrno("cannot connect to " + address.ToString(), error);
  return Status(Code::kIoError, std::string(status.message()));
}

Status ServerLine::BeginTls(const net::TlsClientOptions& options, const std::string& host) {
  auto context = net::TlsClient::NewContext(options);
  if (!context) return context.error();
  tls_ = net::TlsClient::Create(context->get(), socket_.get(), options.verify ? host : "");
  if (tls_ == nullptr) return {Code::kNoMemory, "no memory for TLS"};
  while (tls_->Handshake() != 0)
    if (Status status = WaitAfter("TLS", tls_->waits_for()); !status.ok()) return status;
  return {};
}

// Waits until the socket can do that. An error: the time is over, or the program is to end.
Status ServerLine::Wait(short events) const {
  pollfd socket = {.fd = socket_.get(), .events = events, .revents = 0};
  while (!Terminal::IsToEnd()) {
    const uint64_t left_ns = deadline_ns_ - std::min(deadline_ns_, base::NowNs());
    if (left_ns == 0) return {Code::kIoError, "it does not answer"};
    const int ready = poll(&socket, 1, static_cast<int>(left_ns / 1'000'000) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return Status::FromErrno("poll", errno);
  }
  return {Code::kIoError, "it was not waited for"};
}

// After a call that failed: waits where that may help.
Status ServerLine::WaitAfter(const char* what, short events) const {
  if (errno == EINTR || errno == EAGAIN) return Wait(events);
  if (errno == EPROTO && tls_ != nullptr) return {Code::kIoError, "TLS: " + tls_->reason()};
  return Status::FromErrno(what, errno);
}

Status ServerLine::Send(std::string_view request) {
  while (!request.empty()) {
    const ssize_t sent = tls_ == nullptr
                             ? send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL)
                             : tls_->Send(request.data(), request.size());
    if (sent > 0) {
      request.remove_prefix(static_cast<size_t>(sent));
    } else if (sent == 0) {
      return {Code::kIoError, "it closed the connection"};
    } else if (Status status = WaitAfter("send", tls_ == nullptr ? POLLOUT : tls_->waits_for());
               !status.ok()) {
      return status;
    }
  }
  return {};
}

Result<size_t> ServerLine::Receive(char* room, size_t bytes) {
  while (true) {
    const ssize_t got =
        tls_ == nullptr ? recv(socket_.get(), room, bytes, 0) : tls_->Receive(room, bytes);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return Status(Code::kIoError, "it closed the connection");
    if (Status status = WaitAfter("receive", tls_ == nullptr ? POLLIN : tls_->waits_for());
        !status.ok())
      return status;
  }
}

}  // namespace weft::tool
