// tests/linearizability/net_client.h: one connection that carries operations out, several at a
// time.
//
// It speaks memcached's classic commands and the meta commands, chosen at random, so that both
// roads into the store are on record. Times are taken before the requests are sent and after each
// reply.
//
// Threads   one client belongs to one thread.
// Errors    a lost connection or a reply out of place throws ProtocolError: the driver ends.
#pragma once

#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "linearizability/history.h"

namespace weft::linearizability {

class ProtocolError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class NetClient {
 public:
  // `address` is "host:port" or the path of a Unix socket.
  NetClient(const std::string& address, uint64_t seed);
  ~NetClient();
  NetClient(const NetClient&) = delete;
  NetClient& operator=(const NetClient&) = delete;

  // Sends all requests in one write, then reads their replies.
  void Execute(std::span<Operation> operations);

 private:
  std::string ClassicRequest(const Operation& op);
  std::string MetaRequest(const Operation& op);
  void ReadClassic(Operation* op);
  void ReadMeta(Operation* op);
  void ReadRetrieval(std::string_view first_line, Operation* op);
  std::string ReadLine();
  std::string ReadBytes(size_t count);
  void Fill();

  int socket_ = -1;
  std::mt19937_64 rng_;
  std::string buffer_;
  size_t consumed_ = 0;
};

}  // namespace weft::linearizability
