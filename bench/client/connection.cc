#include "bench/client/connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bench/harness/peer.h"

namespace weft::bench {

Result<std::unique_ptr<Connection>> Connection::Open(uint16_t port, const PayloadShape& shape) {
  Result<int> fd = ConnectLoopback(port);
  if (!fd) return fd.error();
  if (fcntl(*fd, F_SETFL, O_NONBLOCK) != 0) {
    close(*fd);
    return Status::FromErrno("fcntl", errno);
  }
  return std::unique_ptr<Connection>(new Connection(*fd, shape));
}

Connection::~Connection() { close(fd_); }

void Connection::Broken(const std::string& why) {
  failed_ = true;
  busy_ = false;
  ++counts_->errors;
  if (counts_->first_error.empty()) counts_->first_error = why;
}

void Connection::Send(ReplyCounts* counts) {
  counts_ = counts;
  reader_.Start(&round_, counts);
  sent_ = 0;
  busy_ = true;
  Flush();
}

void Connection::Flush() {
  const std::string& request = round_.request();
  while (busy_ && sent_ < request.size()) {
    const ssize_t put = send(fd_, request.data() + sent_, request.size() - sent_, MSG_NOSIGNAL);
    if (put < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      return Broken(Status::FromErrno("send", errno).ToString());
    }
    sent_ += static_cast<size_t>(put);
  }
}

bool Connection::Receive() {
  while (busy_) {
    if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
    if (in_end_ == in_.size()) {
      if (in_begin_ == 0) in_.resize(in_.size() * 2);
      std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
      in_end_ -= in_begin_;
      in_begin_ = 0;
    }
    const size_t room = in_.size() - in_end_;
    const ssize_t got = recv(fd_, in_.data() + in_end_, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
      Broken(got == 0 ? "server closed the connection"
                      : Status::FromErrno("recv", errno).ToString());
      return true;
    }
    in_end_ += static_cast<size_t>(got);
    in_begin_ += reader_.Consume({in_.data() + in_begin_, in_end_ - in_begin_});
    if (reader_.failed()) failed_ = true;
    if (reader_.done()) {
      busy_ = false;
      if (!failed_ && in_begin_ != in_end_) Broken("bytes after the last reply");
      return true;
    }
    if (static_cast<size_t>(got) < room) return false;  // edge-triggered: all was read
  }
  return false;
}

}  // namespace weft::bench
