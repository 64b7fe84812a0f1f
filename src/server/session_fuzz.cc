// Whole sessions: any bytes as what a client sends to a worker over a socket, and a client that
// reads as it likes. Dictionary: fuzz/corpus/server.dict.
//
// An input is two bytes of settings (struct Settings) and the client's stream, in which escapes
// stand for large values (Expand). It goes through a socket pair to a real event loop with a worker
// over a tiny store. What is asserted, whatever the bytes are:
//   - the session ends, and at no point is the server silent for long while it owes something;
//   - replies are no longer than the requests allow (ReplyBound), and none is lost on the way;
//   - the store keeps its memory limit;
//   - afterwards no connection is open and no buffer in use.
// A session that follows another starts from an empty store of the first size, but where the input
// says that it keeps what is there.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "server/stats.h"
#include "server/worker.h"

namespace weft::server {
namespace {

constexpr uint64_t kStoreBytes = 4 << 20;
constexpr uint32_t kObjectBytesMax = 1 << 20;
constexpr size_t kStreamBytesMax = 8 << 20;  // two stores full
constexpr size_t kEnoughBytes = 24 << 20;    // a client that was sent so much goes away
constexpr int kSilenceMs = 5000;             // below the time that tools/fuzz gives an input

// --- the input -------------------------------------------------------------------------------

enum class Manner : uint8_t {
  kSendsFirst,  // reads when all is sent, or when the server takes no more
  kReadsAlong,
  kReadsSlowly,  // a few hundred bytes at a time
  kWalksOff,     // closes when all is sent, with replies unread
};

struct Settings {
  size_t pieces;  // 1 to 8: the stream is sent in so many
  Manner manner;
  bool evict;
  bool keeps;          // starts from what the last session left
  bool waits;          // half-closes only when no reply has come for a moment
  bool small_buffers;  // of the sockets

  static Settings From(const uint8_t* bytes) {
    Settings settings;
    settings.pieces = 1 + bytes[0] % 8;
    settings.manner = static_cast<Manner>(bytes[0] / 8 % 4);
    settings.evict = (bytes[1] & 1) == 0;
    settings.keeps = (bytes[1] & 2) != 0;
    settings.waits = (bytes[1] & 4) != 0;
    settings.small_buffers = (bytes[1] & 8) != 0;
    return settings;
  }
};

// One store of "key" + `which`, of a size and time to live that depend on the bytes.
std::string StoreCommand(uint8_t verb, uint8_t which, uint8_t size) {
  constexpr std::string_view kVerbs[] = {"set", "add", "replace", "append", "prepend"};
  constexpr uint32_t kTimes[] = {0, 1, 60, 5000, 400000, 2500000};
  const size_t bytes = size_t{16} * size * size + size_t{32} * size;  // up to just over an item
  const std::string key = "key" + std::to_string(which % 32);
  const std::string time = std::to_string(kTimes[verb / 8 % std::size(kTimes)]);
  const std::string value(bytes, static_cast<char>('a' + which % 26));
  if (verb % 8 >= std::size(kVerbs))
    return "ms " + key + " " + std::to_string(bytes) + " T" + time + "\r\n" + value + "\r\n";
  return std::string(kVerbs[verb % 8]) + " " + key + " 0 " + time + " " + std::to_string(bytes) +
         "\r\n" + value + "\r\n";
}

// What the client sends. Two escapes make much of little:
//   0x1B verb key size   a whole storage command
//   0x1A n byte          `byte` n * n times
std::string Expand(std::string_view input) {
  std::string stream;
  for (size_t i = 0; i < input.size() && stream.size() < kStreamBytesMax; i++) {
    const auto at = [&](size_t ahead) { return static_cast<uint8_t>(input[i + ahead]); };
    if (input[i] == '\x1b' && i + 3 < input.size()) {
      stream += StoreCommand(at(1), at(2), at(3));
      i += 3;
    } else if (input[i] == '\x1a' && i + 2 < input.size()) {
      stream.append(size_t{at(1)} * at(1), static_cast<char>(at(2)));
      i += 2;
    } else {
      stream += input[i];
    }
  }
  return stream;
}

// Replies are never longer: before each key of a read stands a space, behind each request a line
// feed, at the front of each packet its magic. Answers to `stats` are counted as they are given; a
// packet a line is longer than the line.
uint64_t ReplyBound(std::string_view stream, uint64_t stats_bytes) {
  constexpr uint64_t kKeyReplyMax = kObjectBytesMax + 512;
  constexpr uint64_t kLineReplyMax = 1024;
  const auto spaces = static_cast<uint64_t>(std::count(stream.begin(), stream.end(), ' '));
  const auto lines = static_cast<uint64_t>(std::count(stream.begin(), stream.end(), '\n'));
  const auto packets = static_cast<uint64_t>(std::count(stream.begin(), stream.end(), '\x80'));
  return (spaces + packets) * kKeyReplyMax + (lines + 1) * kLineReplyMax + 4 * stats_bytes;
}

// --- the server ------------------------------------------------------------------------------

// One store, one worker and its loop on a thread of its own, for all inputs.
class FuzzServer final : private Front {
 public:
  explicit FuzzServer(bool evict) {
    CacheOptions options;
    options.memory_bytes = kStoreBytes;
    options.object_bytes_max = kObjectBytesMax;
    options.evict = evict;
    options.append_lanes = 1;
    options.huge_pages = false;
    options.hash_seed = 1;  // an input that failed once fails again
    auto store = cache::Store::Open(options);
    WEFT_CHECK(store);
    store_ = std::move(store.value());
    session_ = store_->NewSession();
    WorkerOptions worker;
    worker.start_s = base::NowSeconds();
    worker.shutdown_enabled = true;
    worker.terms = {{protocol::Dialect::kAny, protocol::Gate::kOpen}};
    worker_ = std::move(Worker::Create(store_.get(), this, worker).value());
    auto loop = net::EventLoop::Create(net::EventLoop::Kind::kEpoll, {}, worker_.get());
    WEFT_CHECK(loop);
    loop_ = std::move(loop.value());
    thread_ = std::thread([this] { WEFT_CHECK(loop_->Run().ok()); });
  }
  ~FuzzServer() override {
    loop_->Stop(0);
    thread_.join();
  }

  net::EventLoop& loop() { return *loop_; }
  uint64_t stats_bytes() const { return stats_bytes_; }

  // Between sessions. Whatever the last one did, the store comes back to its first size: a lower
  // limit is kept as soon as segments fall free, which maintenance sees to.
  void Reset(bool keeps) {
    constexpr int kRoundsMax = 10000;
    if (!keeps || !store_->options().evict) {
      session_->Begin();
      store_->Flush(*session_, 0);
      session_->End();
    }
    WEFT_CHECK(store_->SetMemoryLimit(kStoreBytes).ok());
    for (int i = 0; i < kRoundsMax && MemoryBytes() > kStoreBytes; i++)
      store_->Maintain(*session_, 1);
    WEFT_CHECK(MemoryBytes() <= kStoreBytes);
  }

  // A limit that was lowered during a session is kept only bit by bit, so that the highest there
  // may have been counts then: SetMemoryLimit allows no more than four times the first.
  void CheckMemory(bool limit_changed) const {
    const uint64_t limit = limit_changed ? 4 * kStoreBytes : store_->memory_limit();
    WEFT_CHECK(store_->memory_limit() <= 4 * kStoreBytes);
    WEFT_CHECK(MemoryBytes() <= limit + (1 << 20));
  }

  // The session has been silent for too long: says where it stands, and stops.
  [[noreturn]] void FailSilent(uint64_t received) {
    const uint64_t turns = loop_->Stats().turns;
    loop_->ForEachConnection([=](const net::ConnectionInfo& info) {
      std::fprintf(stderr,
                   "in %" PRIu64 ", out %" PRIu64 ", of it pending %" PRIu64 ", received %" PRIu64
                   ", idle %" PRIu64 " ms, turn %" PRIu64 "\n",
                   info.bytes_in, info.bytes_out, info.pending_output_bytes, received, info.idle_ms,
                   turns);
    });
    base::CheckFailed(__FILE__, __LINE__, "the session goes on");
  }

  // The loop frees what a session held a moment after the client saw its end.
  void CheckIdle() const {
    const uint64_t start = base::NowNs();
    for (;;) {
      const net::LoopStats stats = loop_->Stats();
      if (stats.connections_open == 0 && stats.buffer_bytes == 0) return;
      WEFT_CHECK(base::NowNs() - start < uint64_t{kSilenceMs} * 1'000'000);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  uint64_t MemoryBytes() const { return store_->Stats().memory_bytes; }

  std::string Stats(std::string_view arguments) override {
    ServerSnapshot now;
    now.Add(worker_->counters());
    now.Add(worker_->times());
    now.Add(loop_->Stats());
    cache::SessionCounters sessions;
    store_->SumCounters(&sessions);
    now.Add(sessions);
    now.cache = store_->Stats();
    if (StatsNeedsConnections(arguments)) {
      loop_->ForEachConnection(
          [&now](const net::ConnectionInfo& connection) { now.connections.push_back(connection); });
    }
    std::string text = StatsText(arguments, now, {});
    stats_bytes_ += text.size();
    return text;
  }
  std::string_view Version() const override { return "fuzz"; }
  bool FlushAllowed() const override { return true; }
  void SetVerbosity(uint32_t) override {}
  std::string RefreshCerts() override { return std::string(protocol::kNoTlsText); }
  bool Admits(std::string_view, std::string_view) const override { return false; }
  void RunErrands() override {}
  bool DumpAllowed() const override { return true; }
  bool CountsByPrefix() const override { return false; }
  bool BeginDump() override { return true; }
  void EndDump() override {}
  void Shutdown(bool) override {}  // the next input needs the server

  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<cache::Session> session_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<net::EventLoop> loop_;
  std::atomic<uint64_t> stats_bytes_{0};
  std::thread thread_;
};

// --- the client ------------------------------------------------------------------------------

class FuzzClient {
 public:
  FuzzClient(FuzzServer* server, const Settings& settings) : settings_(settings), server_(server) {
    int ends[2];
    WEFT_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    const int bytes = 4096;
    for (const int end : ends)
      if (settings.small_buffers) setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    fd_ = ends[0];
    WEFT_CHECK(server->loop().Adopt(ends[1], net::Transport::kUnix, 0).ok());
  }
  ~FuzzClient() { close(fd_); }
  FuzzClient(const FuzzClient&) = delete;
  FuzzClient& operator=(const FuzzClient&) = delete;

  uint64_t received() const { return received_; }

  // True where the session was read to its end.
  bool Talk(std::string_view stream) {
    const size_t piece = stream.size() / settings_.pieces + 1;
    while (!stream.empty() && !ended_ && !refused_) {
      if (!SendPiece(stream.substr(0, piece))) return false;
      stream.remove_prefix(std::min(piece, stream.size()));
      if (settings_.manner == Manner::kWalksOff) continue;
      if (settings_.manner != Manner::kSendsFirst && !ReadWhatIsThere(0)) return false;
    }
    if (settings_.manner == Manner::kWalksOff) return false;
    if (settings_.waits && !ReadWhatIsThere(1)) return false;
    shutdown(fd_, SHUT_WR);
    while (!ended_) {
      if (Await(POLLIN, kSilenceMs) == 0) server_->FailSilent(received_);
      if (!ReadSome()) return false;
    }
    return true;
  }

 private:
  // 0: none of the events came in time.
  short Await(short events, int timeout_ms) const {
    pollfd entry = {fd_, events, 0};
    int count = 0;
    do {
      count = poll(&entry, 1, timeout_ms);
    } while (count < 0 && errno == EINTR);  // the fuzzer's own alarm, every few seconds
    WEFT_CHECK(count >= 0);
    return count == 0 ? short{0} : entry.revents;
  }

  // False: the client has had enough, or would wait for a server that waits for it.
  bool SendPiece(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t sent = send(fd_, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        piece.remove_prefix(static_cast<size_t>(sent));
        continue;
      }
      if (errno == EINTR) continue;
      // The server closed, after `quit` say: its last words are still to be read.
      if (errno != EAGAIN) return refused_ = true;
      // The server may take nothing until it is rid of replies.
      const bool reads = settings_.manner != Manner::kWalksOff;
      const short ready =
          Await(static_cast<short>(POLLOUT | (reads ? POLLIN : 0)), reads ? kSilenceMs : 20);
      if (!reads && ready == 0) return false;
      if (ready == 0) server_->FailSilent(received_);
      if (reads && (ready & POLLIN) != 0 && !ReadSome()) return false;
    }
    return true;
  }

  // Until nothing came for `wait_ms`.
  bool ReadWhatIsThere(int wait_ms) {
    while (!ended_ && (Await(POLLIN, wait_ms) & (POLLIN | POLLHUP)) != 0)
      if (!ReadSome()) return false;
    return true;
  }

  // False: that was enough, or no end in order.
  bool ReadSome() {
    static char buffer[256 << 10];
    const size_t bytes = settings_.manner == Manner::kReadsSlowly ? 700 : sizeof buffer;
    const ssize_t got = recv(fd_, buffer, bytes, 0);
    if (got > 0) received_ += static_cast<uint64_t>(got);
    if (got == 0) ended_ = true;
    if (got < 0 && errno != EAGAIN && errno != EINTR) return false;  // it closed with input unread
    return received_ < kEnoughBytes;
  }

  const Settings settings_;
  FuzzServer* const server_;
  int fd_ = -1;
  uint64_t received_ = 0;
  bool ended_ = false;    // the server sent its last byte
  bool refused_ = false;  // it takes no more
};

void FuzzSession(const Settings& settings, std::string_view stream) {
  static FuzzServer evicting(true);
  static FuzzServer full(false);
  FuzzServer& server = settings.evict ? evicting : full;
  server.Reset(settings.keeps);
  const uint64_t sent_before = server.loop().Stats().bytes_out;
  const uint64_t stats_before = server.stats_bytes();
  uint64_t received = 0;
  bool whole = false;
  {
    FuzzClient client(&server, settings);
    whole = client.Talk(stream);
    received = client.received();
  }
  server.CheckIdle();
  const uint64_t sent = server.loop().Stats().bytes_out - sent_before;
  WEFT_CHECK(whole ? sent == received : sent >= received);
  WEFT_CHECK(sent <= ReplyBound(stream, server.stats_bytes() - stats_before));
  server.CheckMemory(stream.find("cache_memlimit") != stream.npos);
}

}  // namespace
}  // namespace weft::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  weft::server::FuzzSession(weft::server::Settings::From(data),
                            weft::server::Expand(input.substr(2)));
  return 0;
}
