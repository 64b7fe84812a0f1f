// net/peer_test_kit.h: the client's end and a line-echo server for the tests of this folder. Not
// for programs.
//
// Threads: a Peer belongs to one thread; a TestServer's loops run on threads of its own.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/event_loop.h"

namespace weft::net {

// A blocking client socket whose receives give up after a while.
class Peer {
 public:
  enum When { kConnectNow, kConnectLater };
  explicit Peer(const SocketAddress& address, int receive_buffer_bytes = 0,
                When when = kConnectNow) {
    fd_ = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer_bytes > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    const timeval limit = {20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (when == kConnectNow) Connect(address);
  }
  ~Peer() { Close(); }
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  bool Connect(const SocketAddress& address) {
    connected_ = connect(fd_, address.get(), address.bytes) == 0;
    return connected_;
  }
  int fd() const { return fd_; }
  bool connected() const { return connected_; }
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // `n` bytes, or fewer when the connection ends or nothing comes.
  std::string Receive(size_t n) {
    std::string bytes(n, '\0');
    size_t got = 0;
    while (got < n) {
      const ssize_t now = recv(fd_, bytes.data() + got, n - got, 0);
      // The end of a ring that this thread made interrupts it once, with no signal to be seen.
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) break;
      got += static_cast<size_t>(now);
    }
    bytes.resize(got);
    return bytes;
  }
  // True when the other end closes and sends nothing before.
  bool SeesEnd() {
    errno = 0;  // an end sets none
    return Receive(1).empty() && errno != EAGAIN;
  }
  void FinishSending() { shutdown(fd_, SHUT_WR); }
  // Ends with a reset instead of an orderly close.
  void Reset() {
    const linger now = {1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
  bool connected_ = false;
};

// Answers lines. "echo" is the default; a line may ask for more:
//   "big N"   N bytes of 'b'              "need N"  then N bytes; answers their count and sum
//   "quit"    closes                      "drop N"  swallows the next N bytes
//   "hold"    answered after the next Wake, and nothing before that
//   "oops N"  N bytes that are taken back
class LineHandler : public Handler {
 public:
  void OnOpen(Connection&) override { ++opened; }
  void OnClose(Connection& connection) override {
    std::erase(held_, &connection);
    ++closed;
  }
  void OnStuck(const Connection&, size_t, uint64_t) override { ++stuck; }
  void OnTick() override { ++ticks; }
  void OnWake() override {
    for (Connection* connection : held_) connection->Resume();
    held_.clear();
    ++wakes;
  }
  bool OnSpareTime() override { return spare_turns != 0 && --spare_turns != 0; }
  void OnBatch(std::span<Connection* const> ready) override {
    for (Connection* connection : ready) Answer(*connection);
    if (ready.size() > largest_batch.load()) largest_batch = ready.size();
  }

  std::atomic<uint64_t> opened{0};
  std::atomic<uint64_t> closed{0};
  std::atomic<uint64_t> stuck{0};
  std::atomic<uint64_t> ticks{0};
  std::atomic<uint64_t> wakes{0};
  std::atomic<uint64_t> spare_turns{0};  // for which it has work of its own
  std::atomic<uint64_t> lines{0};
  std::atomic<uint64_t> holds{0};
  std::atomic<size_t> largest_batch{0};
  std::atomic<size_t> pending_max{0};

 private:
  void Answer(Connection& connection);
  bool AnswerLine(Connection& connection, std::string_view line);
  // Whether a reply of `n` bytes may be written; else the line comes again.
  static bool HasRoom(Connection& connection, size_t n) {
    if (n <= connection.OutputRoom() || connection.TakeRoom(n) != 0) return true;
    connection.HasMore(n);
    return false;
  }

  std::vector<Connection*> held_;
};

inline void LineHandler::Answer(Connection& connection) {
  while (!connection.readable().empty()) {
    const size_t end = connection.readable().find('\n');
    if (end == std::string_view::npos) break;
    if (!AnswerLine(connection, connection.readable().substr(0, end))) break;
  }
  pending_max = std::max(pending_max.load(), connection.pending_output());
}

inline bool LineHandler::AnswerLine(Connection& connection, std::string_view line) {
  const size_t whole = line.size() + 1;
  const auto number = [&line](size_t skip) {
    return static_cast<size_t>(std::stoull(std::string(line.substr(skip))));
  };
  if (line.starts_with("big ")) {
    const size_t n = number(4);
    if (!HasRoom(connection, n)) return false;
    char* const space = connection.Reserve(n);
    if (space == nullptr) return false;
    std::memset(space, 'b', n);
    connection.Commit(n);
  } else if (line.starts_with("need ")) {
    const size_t n = number(5);
    if (connection.readable().size() < whole + n) {
      connection.ExpectBytes(whole + n);
      return false;
    }
    uint64_t sum = 0;
    for (char c : connection.readable().substr(whole, n)) sum += static_cast<unsigned char>(c);
    connection.Append(std::to_string(n) + " " + std::to_string(sum) + "\n");
    connection.Consume(n);
  } else if (line == "quit") {
    connection.CloseAfterFlush();
    ++lines;
    return false;
  } else if (line == "hold" && connection.state == nullptr) {
    connection.state = this;  // the next time it is answered
    held_.push_back(&connection);
    connection.Hold();
    ++holds;
    return false;
  } else if (line.starts_with("oops ")) {
    const size_t kept = connection.pending_output();
    connection.Append(std::string(number(5), 'x'));
    connection.TakeBack(kept);
  } else if (line.starts_with("drop ")) {
    const size_t n = number(5);
    connection.Consume(whole);
    connection.Swallow(n);
    return true;
  } else {
    if (!HasRoom(connection, whole)) return false;
    if (line == "hold") connection.state = nullptr;
    connection.Append(connection.readable().substr(0, whole));
  }
  connection.Consume(whole);
  ++lines;
  return true;
}

// Waits up to ten seconds for `condition`; what it came to.
inline bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    usleep(2000);
  }
  return condition();
}

// Clocks for LoopOptions::clock_ms, so that no pause of a thread changes what a test sees. One
// stands still except in TestServer::PassTick. Of the other one each turn of a loop takes 1 ms.
inline std::atomic<uint64_t> test_clock_ms{1'000'000};
inline uint64_t StillClock() { return test_clock_ms; }
inline uint64_t TurnClock() { return ++test_clock_ms; }

// Loops over one TCP listener on a free port, each on its thread, the first accepting.
class TestServer {
 public:
  explicit TestServer(EventLoop::Kind kind, LoopOptions options = {}, size_t loop_count = 1,
                      std::vector<std::unique_ptr<Listener>> listeners = {})
      : tick_ms_(static_cast<uint64_t>(options.tick_ms)), listeners_(std::move(listeners)) {
    if (listeners_.empty()) {
      auto opened = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {.backlog = 4096});
      EXPECT_TRUE(opened.has_value());
      listeners_ = std::move(*opened);
    }
    std::vector<EventLoop*> group;
    for (size_t i = 0; i < loop_count; ++i) {
      options.listeners.clear();
      for (auto& listener : listeners_) {
        if (i == 0) options.listeners.push_back(listener.get());
      }
      handlers_.push_back(std::make_unique<LineHandler>());
      auto loop = EventLoop::Create(kind, options, handlers_.back().get());
      EXPECT_TRUE(loop.has_value()) << loop.error().ToString();
      loops_.push_back(std::move(*loop));
      group.push_back(loops_.back().get());
    }
    for (auto& loop : loops_) loop->ShareWith(group);
    for (auto& loop : loops_) {
      threads_.emplace_back([&loop] { EXPECT_TRUE(loop->Run().ok()); });
    }
    if (options.clock_ms == StillClock) EndTurn();  // the first tick is due a tick after Run began
  }
  ~TestServer() { Stop(0); }

  void Stop(uint64_t grace_ms) {
    for (auto& loop : loops_) loop->Stop(grace_ms);
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }
  // Lets a tick pass on StillClock. The one loop does first what there is to do for its peers, then
  // what is due at the tick.
  void PassTick() {
    const uint64_t ticks = handler().ticks;
    test_clock_ms += tick_ms_;
    loop().Wake();
    EXPECT_TRUE(Eventually([&] { return handler().ticks > ticks; }));
    EndTurn();
  }
  const SocketAddress& address(size_t i = 0) const { return listeners_[i]->address(); }
  EventLoop& loop(size_t i = 0) { return *loops_[i]; }
  LineHandler& handler(size_t i = 0) { return *handlers_[i]; }

 private:
  // Until the one loop has ended the turn that it is in: it answers a wake in the next one.
  void EndTurn() {
    const uint64_t wakes = handler().wakes;
    loop().Wake();
    EXPECT_TRUE(Eventually([&] { return handler().wakes > wakes; }));
  }

  const uint64_t tick_ms_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<LineHandler>> handlers_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::vector<std::thread> threads_;
};

// The kinds that every test of a loop runs for.
class LoopTest : public ::testing::TestWithParam<EventLoop::Kind> {
 protected:
  void SetUp() override {
    if (GetParam() != EventLoop::Kind::kUring) return;
    const Status status = EventLoop::UringAvailable();
    if (!status.ok()) GTEST_SKIP() << status.ToString();
  }
};

inline std::string KindName(const ::testing::TestParamInfo<EventLoop::Kind>& info) {
  return info.param == EventLoop::Kind::kUring ? "io_uring" : "epoll";
}

}  // namespace weft::net
