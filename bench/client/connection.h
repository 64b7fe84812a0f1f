// bench/client/connection.h: one non-blocking connection with one round under way at most.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/client/round.h"
#include "weft/status.h"

namespace weft::bench {

// Connections handled between two system calls, at most.
inline constexpr int kEventsMax = 64;

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> Open(uint16_t port, const PayloadShape& shape);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  // Filled by the caller between rounds, then sent by Send.
  Round& round() { return round_; }

  // Sends as much of the round as the socket takes; the rest follows in Flush.
  void Send(ReplyCounts* counts);
  // Goes on sending after the socket was full.
  void Flush();
  // Reads what has arrived and checks it. True when the round is done (or has failed).
  // REQUIRES: a round is under way
  bool Receive();

  bool failed() const { return failed_; }
  bool busy() const { return busy_; }

 private:
  Connection(int fd, const PayloadShape& shape) : fd_(fd), round_(shape), in_(1 << 16) {}
  void Broken(const std::string& why);

  const int fd_;
  Round round_;
  RoundReader reader_;
  ReplyCounts* counts_ = nullptr;
  size_t sent_ = 0;       // bytes of the request that are out
  std::vector<char> in_;  // received, not yet taken: [in_begin_, in_end_)
  size_t in_begin_ = 0;
  size_t in_end_ = 0;
  bool busy_ = false;
  bool failed_ = false;
};

}  // namespace weft::bench
