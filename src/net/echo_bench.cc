// net/echo_bench.cc: what moving one message costs the server's thread, kernel included.
//
// A loop with a handler that answers each 22-byte request with 112 bytes runs on core 0; a client
// thread with 50 connections on core 1, or on core 0 too with --same-core: then every turn finds
// what the client could send until it slept, which is steadier, because a faster server does not
// just take smaller turns. Prints one JSON object a line; cpu_us is user + system time of the
// server's thread (getrusage) per message.
//
// --server: the same client also drives a server of memcached's protocol, which whoever started it
// has pinned to core 0. It stores one key, so that a get and its reply have as many bytes as above.
// Then cpu_us is of all threads of that process (/proc/PID/task).
//
//   echo_bench [--seconds S] [--connections N] [--same-core] [--rounds R] [--server PID:PORT]
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/program.h"
#include "net/event_loop.h"

namespace weft::net {
namespace {

constexpr size_t kRequestBytes = 22;
constexpr size_t kReplyBytes = 112;

struct Settings {
  double seconds = 2;
  int connections = 50;
  bool same_core = false;
  int rounds = 1;
  int server_pid = 0;  // 0: none
  uint16_t server_port = 0;
};

const std::string kKey(16, 'k');
const std::string kGet = "get " + kKey + "\r\n";
static_assert(kRequestBytes == 4 + 16 + 2);
constexpr size_t kValueBytes = kReplyBytes - 36;  // besides "VALUE KEY 0 76", "END", line ends

void Pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

double ThreadCpuSeconds() { return static_cast<double>(base::ThreadCpuNs()) * 1e-9; }

class Echo : public Handler {
 public:
  void OnBatch(std::span<Connection* const> ready) override {
    for (Connection* connection : ready) {
      while (connection->readable().size() >= kRequestBytes) {
        char* const reply = connection->Reserve(kReplyBytes);
        std::memcpy(reply, connection->readable().data(), kRequestBytes);
        connection->Commit(kReplyBytes);
        connection->Consume(kRequestBytes);
      }
    }
  }
};

// Keeps `depth` requests outstanding on every connection; the messages answered.
uint64_t Drive(const SocketAddress& address, int depth, const Settings& settings) {
  std::string requests;
  for (int i = 0; i < depth; ++i) requests += kGet;
  const size_t owed = kReplyBytes * static_cast<size_t>(depth);
  std::vector<char> replies(owed * 2);
  std::vector<int> fds;
  std::vector<size_t> got(static_cast<size_t>(settings.connections));
  const int set = epoll_create1(0);
  for (int i = 0; i < settings.connections; ++i) {
    fds.push_back(socket(address.family(), SOCK_STREAM, 0));
    WEFT_CHECK(connect(fds.back(), address.get(), address.bytes) == 0);
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u32 = static_cast<uint32_t>(i);
    epoll_ctl(set, EPOLL_CTL_ADD, fds.back(), &event);
  }
  for (int fd : fds) WEFT_CHECK(send(fd, requests.data(), requests.size(), 0) > 0);
  uint64_t messages = 0;
  epoll_event events[512];
  const uint64_t end_ns = base::NowNs() + static_cast<uint64_t>(settings.seconds * 1e9);
  while (base::NowNs() < end_ns) {
    const int count = epoll_wait(set, events, 512, 1000);
    for (int i = 0; i < count; ++i) {
      const uint32_t which = events[i].data.u32;
      const ssize_t n = recv(fds[which], replies.data(), replies.size(), 0);
      WEFT_CHECK(n > 0);
      got[which] += static_cast<size_t>(n);
      if (got[which] < owed) continue;
      got[which] -= owed;
      messages += static_cast<uint64_t>(depth);
      WEFT_CHECK(send(fds[which], requests.data(), requests.size(), 0) > 0);
    }
  }
  for (int fd : fds) close(fd);
  close(set);
  return messages;
}

// `per_turn` 0: unknown.
void Print(const std::string& kind, int depth, const Settings& settings, uint64_t messages,
           double cpu_seconds, double per_turn) {
  const auto count = static_cast<double>(messages);
  std::printf(
      "{\"bench\":\"net/echo\",\"kind\":\"%s\",\"depth\":%d,\"connections\":%d,"
      "\"same_core\":%s,\"cpu_us\":%.3f,\"messages_per_s\":%.0f",
      kind.c_str(), depth, settings.connections, settings.same_core ? "true" : "false",
      cpu_seconds / count * 1e6, count / settings.seconds);
  if (per_turn > 0) std::printf(",\"messages_per_turn\":%.1f", per_turn);
  std::printf("}\n");
  std::fflush(stdout);
}

void Measure(EventLoop::Kind kind, int depth, const Settings& settings) {
  auto listeners = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {});
  WEFT_CHECK(listeners.has_value());
  Echo echo;
  LoopOptions options;
  options.listeners = {listeners.value()[0].get()};
  auto loop = EventLoop::Create(kind, options, &echo);
  if (!loop) {
    std::printf("{\"skipped\":\"%s\"}\n", loop.error().ToString().c_str());
    return;
  }
  double cpu_seconds = 0;
  std::thread server([&] {
    Pin(0);
    const double before = ThreadCpuSeconds();
    WEFT_CHECK(loop.value()->Run().ok());
    cpu_seconds = ThreadCpuSeconds() - before;
  });
  uint64_t messages = 0;
  std::thread client([&] {
    Pin(settings.same_core ? 0 : 1);
    messages = Drive(listeners.value()[0]->address(), depth, settings);
  });
  client.join();
  const LoopStats stats = loop.value()->Stats();
  loop.value()->Stop(0);
  server.join();
  Print(std::string(loop.value()->kind()), depth, settings, messages, cpu_seconds,
        static_cast<double>(messages) / static_cast<double>(stats.turns));
}

double CpuSecondsOfProcess(int pid) {
  double sum = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    double ns = 0;
    std::ifstream(task.path() / "schedstat") >> ns;
    sum += ns * 1e-9;
  }
  return sum;
}

void StoreKey(const SocketAddress& address) {
  const int fd = socket(address.family(), SOCK_STREAM, 0);
  WEFT_CHECK(connect(fd, address.get(), address.bytes) == 0);
  const std::string set = "set " + kKey + " 0 0 " + std::to_string(kValueBytes) + "\r\n" +
                          std::string(kValueBytes, 'v') + "\r\n";
  char reply[8];
  WEFT_CHECK(send(fd, set.data(), set.size(), 0) == static_cast<ssize_t>(set.size()));
  WEFT_CHECK(recv(fd, reply, sizeof reply, MSG_WAITALL) == 8 && reply[0] == 'S');
  close(fd);
}

void MeasureServer(int depth, const Settings& settings) {
  const auto addresses = ResolveForListening({"127.0.0.1", settings.server_port});
  WEFT_CHECK(addresses.has_value());
  const SocketAddress address = addresses.value()[0];
  StoreKey(address);
  const double before = CpuSecondsOfProcess(settings.server_pid);
  uint64_t messages = 0;
  std::thread client([&] {
    Pin(settings.same_core ? 0 : 1);
    messages = Drive(address, depth, settings);
  });
  client.join();
  Print("server", depth, settings, messages, CpuSecondsOfProcess(settings.server_pid) - before, 0);
}

Settings Parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--same-core") settings.same_core = true;
    if (i + 1 >= argc) continue;
    if (name == "--seconds") settings.seconds = std::atof(argv[i + 1]);
    if (name == "--connections") settings.connections = std::atoi(argv[i + 1]);
    if (name == "--rounds") settings.rounds = std::atoi(argv[i + 1]);
    if (name == "--server") {
      settings.server_pid = std::atoi(argv[i + 1]);
      const char* colon = std::strchr(argv[i + 1], ':');
      WEFT_CHECK(colon != nullptr);
      settings.server_port = static_cast<uint16_t>(std::atoi(colon + 1));
    }
  }
  return settings;
}

}  // namespace
}  // namespace weft::net

int main(int argc, char** argv) {
  weft::base::StartProgram("echo_bench");
  using weft::net::EventLoop;
  const auto settings = weft::net::Parse(argc, argv);
  for (int round = 0; round < settings.rounds; ++round) {
    for (int depth : {1, 32}) {
      weft::net::Measure(EventLoop::Kind::kEpoll, depth, settings);
      weft::net::Measure(EventLoop::Kind::kUring, depth, settings);
      if (settings.server_pid != 0) weft::net::MeasureServer(depth, settings);
    }
  }
}
