#include "linearizability/net_client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/parse_number.h"
#include "linearizability/driver.h"

namespace weft::linearizability {
namespace {

int ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

int ConnectTcp(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* at = found; at != nullptr && fd < 0; at = at->ai_next) {
    fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
    if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  const int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

uint64_t Number(std::string_view text) {
  uint64_t number = 0;
  if (!base::ParseNumber(text, &number)) throw ProtocolError("no number: " + std::string(text));
  return number;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool IsArithmetic(Verb verb) { return verb == Verb::kIncrement || verb == Verb::kDecrement; }

[[noreturn]] void Unexpected(const Operation& op, std::string_view line) {
  throw ProtocolError("reply \"" + std::string(line) + "\" to " + ToString(op));
}

}  // namespace

NetClient::NetClient(const std::string& address, uint64_t seed) : rng_(seed) {
  const size_t colon = address.rfind(':');
  socket_ = address.find('/') != std::string::npos || colon == std::string::npos
                ? ConnectUnix(address)
                : ConnectTcp(address.substr(0, colon), address.substr(colon + 1));
  if (socket_ < 0) throw ProtocolError("cannot connect to " + address);
}

NetClient::~NetClient() { close(socket_); }

void NetClient::Execute(std::span<Operation> operations) {
  std::string requests;
  std::vector<bool> meta;
  for (const Operation& op : operations) {
    meta.push_back(rng_() % 2 == 0);
    requests += meta.back() ? MetaRequest(op) : ClassicRequest(op);
  }
  const int64_t invoked_ns = NowNs();
  for (size_t sent = 0; sent < requests.size();) {
    const ssize_t count =
        send(socket_, requests.data() + sent, requests.size() - sent, MSG_NOSIGNAL);
    if (count < 0)
      throw ProtocolError(std::string("send: ") + std::system_category().message(errno));
    sent += static_cast<size_t>(count);
  }
  for (size_t i = 0; i < operations.size(); ++i) {
    operations[i].invoked_ns = invoked_ns;
    if (meta[i]) {
      ReadMeta(&operations[i]);
    } else {
      ReadClassic(&operations[i]);
    }
    operations[i].returned_ns = NowNs();
  }
}

std::string NetClient::ClassicRequest(const Operation& op) {
  const std::string size = std::to_string(op.argument.size());
  const std::string tail = "\r\n" + op.argument + "\r\n";
  switch (op.verb) {
    case Verb::kGet: {
      const char* const forms[] = {"get ", "gets ", "gats 0 ", "gets "};
      return forms[rng_() % 4] + op.key + "\r\n";
    }
    case Verb::kCas:
      return "cas " + op.key + " 0 0 " + size + " " + std::to_string(op.cas_expected) + tail;
    case Verb::kDelete: return "delete " + op.key + "\r\n";
    case Verb::kTouch: return "touch " + op.key + " 100000\r\n";
    case Verb::kIncrement: return "incr " + op.key + " " + std::to_string(op.delta) + "\r\n";
    case Verb::kDecrement: return "decr " + op.key + " " + std::to_string(op.delta) + "\r\n";
    default: return std::string(VerbName(op.verb)) + " " + op.key + " 0 0 " + size + tail;
  }
}

std::string NetClient::MetaRequest(const Operation& op) {
  const std::string store = "ms " + op.key + " " + std::to_string(op.argument.size());
  const std::string told = rng_() % 2 == 0 ? " c" : "";
  const std::string tail = told + "\r\n" + op.argument + "\r\n";
  switch (op.verb) {
    case Verb::kGet: return "mg " + op.key + " k v" + told + "\r\n";
    case Verb::kSet: return store + tail;
    case Verb::kAdd: return store + " ME" + tail;
    case Verb::kReplace: return store + " MR" + tail;
    case Verb::kAppend: return store + " MA" + tail;
    case Verb::kPrepend: return store + " MP" + tail;
    case Verb::kCas: return store + " C" + std::to_string(op.cas_expected) + tail;
    case Verb::kDelete: return "md " + op.key + "\r\n";
    case Verb::kTouch: return "mg " + op.key + " T100000\r\n";
    case Verb::kIncrement:
      return "ma " + op.key + " v D" + std::to_string(op.delta) + told + "\r\n";
    case Verb::kDecrement:
      return "ma " + op.key + " v MD D" + std::to_string(op.delta) + told + "\r\n";
  }
  return "";
}

void NetClient::ReadClassic(Operation* op) {
  const std::string line = ReadLine();
  if (op->verb == Verb::kGet) {
    ReadRetrieval(line, op);
  } else if (line == "STORED") {
    op->result = Result::kStored;
  } else if (line == "NOT_STORED") {
    op->result = Result::kNotStored;
  } else if (line == "EXISTS") {
    op->result = Result::kExists;
  } else if (line == "NOT_FOUND") {
    op->result = Result::kMiss;
  } else if (line == "DELETED") {
    op->result = Result::kDeleted;
  } else if (line == "TOUCHED") {
    op->result = Result::kTouched;
  } else if (line.starts_with("CLIENT_ERROR cannot increment")) {
    op->result = Result::kNotNumeric;
  } else if (line.starts_with("SERVER_ERROR out of memory")) {
    op->result = op->verb == Verb::kSet ? Result::kCleared : Result::kFailed;
  } else if (IsArithmetic(op->verb)) {
    op->result = Result::kNumber;
    op->number = Number(line);
  } else {
    Unexpected(*op, line);
  }
}

void NetClient::ReadRetrieval(std::string_view first_line, Operation* op) {
  op->result = Result::kMiss;
  if (first_line == "END") return;
  const std::vector<std::string_view> words = Words(first_line);
  if (words.size() < 4 || words[0] != "VALUE" || words[1] != op->key) Unexpected(*op, first_line);
  op->result = Result::kValue;
  if (words.size() == 5) op->version = Number(words[4]);
  const size_t size = Number(words[3]);
  op->value = ReadBytes(size + 2).substr(0, size);
  if (const std::string end = ReadLine(); end != "END") Unexpected(*op, end);
}

void NetClient::ReadMeta(Operation* op) {
  const std::string line = ReadLine();
  const std::vector<std::string_view> words = Words(line);
  const std::string_view code = words.empty() ? "" : words[0];
  uint64_t version = kNoVersion;
  for (const std::string_view word : words) {
    if (code.size() != 2) break;  // an error's sentence
    if (word != words[0] && word[0] == 'c') version = Number(word.substr(1));
    if (word != words[0] && word[0] == 'k' && word.substr(1) != op->key) Unexpected(*op, line);
  }
  if (code == "VA") {
    const size_t size = Number(words.at(1));
    op->version = version;
    op->value = ReadBytes(size + 2).substr(0, size);
    op->result = IsArithmetic(op->verb) ? Result::kNumber : Result::kValue;
    if (IsArithmetic(op->verb)) op->number = Number(op->value);
  } else if (code == "HD") {
    op->result = op->verb == Verb::kDelete  ? Result::kDeleted
                 : op->verb == Verb::kTouch ? Result::kTouched
                                            : Result::kStored;
    op->version = version;
  } else if (code == "NS") {
    op->result = Result::kNotStored;
  } else if (code == "EX") {
    op->result = Result::kExists;
  } else if (code == "NF" || code == "EN") {
    op->result = Result::kMiss;
  } else if (line.starts_with("CLIENT_ERROR cannot increment")) {
    op->result = Result::kNotNumeric;
  } else if (line.starts_with("SERVER_ERROR out of memory")) {
    const bool clears = op->verb == Verb::kSet || op->verb == Verb::kAdd ||
                        op->verb == Verb::kReplace || op->verb == Verb::kCas;
    op->result = clears ? Result::kCleared : Result::kFailed;
  } else {
    Unexpected(*op, line);
  }
}

std::string NetClient::ReadLine() {
  size_t end;
  while ((end = buffer_.find("\r\n", consumed_)) == std::string::npos) Fill();
  std::string line = buffer_.substr(consumed_, end - consumed_);
  consumed_ = end + 2;
  return line;
}

std::string NetClient::ReadBytes(size_t count) {
  while (buffer_.size() - consumed_ < count) Fill();
  std::string bytes = buffer_.substr(consumed_, count);
  consumed_ += count;
  return bytes;
}

void NetClient::Fill() {
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  char room[16384];
  const ssize_t count = recv(socket_, room, sizeof(room), 0);
  if (count <= 0) throw ProtocolError("the server hung up");
  buffer_.append(room, static_cast<size_t>(count));
}

}  // namespace weft::linearizability
