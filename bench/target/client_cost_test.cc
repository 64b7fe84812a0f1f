// What an operation costs the client: no allocations, and how much CPU time, which is printed; the
// bound only says that nothing is badly amiss.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <cstdlib>
#include <new>

#include <fmt/format.h>

#include "bench/target/memcached_session.h"
#include "bench/target/target_test_kit.h"
#ifdef WEFT_BENCH_HAS_HIREDIS
#include "bench/target/redis_session.h"
#endif

namespace {
thread_local uint64_t allocations = 0;  // of C++, by this thread; sanitizers have their own
}  // namespace

#ifndef WEFT_SANITIZED
// A replacement must be outside of every namespace; inlined, it looks like a mismatch of new and
// free.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace weft::bench {
namespace {

constexpr size_t kDepth = 32;
constexpr size_t kRounds = 64;  // different ones, again and again

#ifdef WEFT_SANITIZED
const bool kIsSlow = true;
#else
const bool kIsSlow = std::getenv("WEFT_EMULATED") != nullptr;
#endif

// What one round asks, in bytes, and what is answered.
struct Round {
  std::vector<Operation> operations;
  size_t asked_bytes = 0;
  std::string answer;
};

// Both ends of a connection over the loopback interface.
void ConnectBoth(int* client, int* server) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes);
  *client = Connect({"127.0.0.1", ntohs(address.sin_port), ""}).value();
  *server = accept(listener, nullptr, nullptr);
  const int on = 1;
  setsockopt(*server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  close(listener);
}

// Answers each round once all of it was asked, until the other end closes.
void Serve(int fd, const std::vector<Round>& rounds) {
  std::vector<char> room(1 << 20);
  for (size_t at = 0;; at = (at + 1) % rounds.size()) {
    for (size_t held = 0; held < rounds[at].asked_bytes;) {
      const ssize_t got = recv(fd, room.data(), rounds[at].asked_bytes - held, 0);
      if (got <= 0) {
        close(fd);
        return;
      }
      held += static_cast<size_t>(got);
    }
    const std::string& answer = rounds[at].answer;
    for (size_t sent = 0; sent < answer.size();) {
      const ssize_t put = send(fd, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (put <= 0) break;
      sent += static_cast<size_t>(put);
    }
  }
}

double UserSeconds() {
  rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return static_cast<double>(used.ru_utime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec) * 1e-6;
}

// Carries the round out and waits for it, as a load does; false where something went wrong.
bool CarryOut(Session* session, const Round& round, std::vector<Outcome>* outcomes) {
  outcomes->clear();
  if (!session->Submit(round.operations).ok()) return false;
  while (outcomes->size() < round.operations.size()) {
    pollfd ready{session->fd(), POLLIN, 0};
    if (poll(&ready, 1, 10'000) <= 0 || !session->Take(outcomes).ok()) return false;
  }
  return std::all_of(outcomes->begin(), outcomes->end(),
                     [](const Outcome& outcome) { return outcome.outcome == OutcomeKind::kDone; });
}

void Measure(const char* what, Session* session, const std::vector<Round>& rounds) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(kDepth);
  for (const Round& round : rounds) ASSERT_TRUE(CarryOut(session, round, &outcomes));
  const int repetitions = kIsSlow ? 20 : 300;
  const uint64_t allocations_before = allocations;
  const uint64_t cpu_before = base::ThreadCpuNs();
  const double user_before = UserSeconds();
  for (int i = 0; i < repetitions; ++i)
    for (const Round& round : rounds) ASSERT_TRUE(CarryOut(session, round, &outcomes));
  const double user_us = (UserSeconds() - user_before) * 1e6;
  const double cpu_us = static_cast<double>(base::ThreadCpuNs() - cpu_before) * 1e-3;
  const double operations = static_cast<double>(repetitions) * kRounds * kDepth;
  EXPECT_EQ(allocations, allocations_before);
  EXPECT_LT(user_us / operations, kIsSlow ? 100.0 : 1.0);
  fmt::print("{}: {:.3f} us of CPU an operation, {:.3f} of it in user mode\n", what,
             cpu_us / operations, user_us / operations);
}

class ClientCost : public testing::Test {
 protected:
  static RecordFormat MakeFormat() {
    RecordOptions options;
    options.value_bytes = SizeDistribution::Fixed(64);
    return std::move(RecordFormat::Make(options).value());
  }
  std::string Key(uint64_t record) const {
    char room[kRecordKeyBytesMax];
    return std::string(format_.WriteKey(record, room));
  }
  std::string Value(uint64_t record) const {
    std::string value(64, '\0');
    format_.WriteValue(record, 1, value.data());
    return value;
  }
  template <typename AnswerOf>
  std::vector<Round> Rounds(OperationKind kind, size_t asked_bytes, const AnswerOf& answer_of) {
    std::vector<Round> rounds(kRounds);
    for (uint64_t i = 0; i < kRounds * kDepth; ++i) {
      Round& round = rounds[i / kDepth];
      round.operations.push_back({kind, 0, 1, i * 977, i});
      round.asked_bytes += asked_bytes;
      round.answer += answer_of(i * 977);
    }
    return rounds;
  }
  template <typename Make>
  void Run(const char* what, const std::vector<Round>& rounds, const Make& make) {
    int client = -1, server = -1;
    ASSERT_NO_FATAL_FAILURE(ConnectBoth(&client, &server));
    std::thread thread([&] { Serve(server, rounds); });
    {
      const std::unique_ptr<Session> session = make(std::make_unique<Stream>(client));
      Measure(what, session.get(), rounds);
    }
    thread.join();
  }

  RecordFormat format_ = MakeFormat();
};

TEST_F(ClientCost, OfMemcached) {
  const auto make = [&](std::unique_ptr<Stream> stream) {
    return std::make_unique<MemcachedSession>(std::move(stream), format_, false);
  };
  Run("memcached get, depth 32, 64 B",
      Rounds(OperationKind::kRead, 4 + 24 + 2,
             [&](uint64_t record) {
               return "VALUE " + Key(record) + " 0 64\r\n" + Value(record) + "\r\nEND\r\n";
             }),
      make);
  Run("memcached set, depth 32, 64 B",
      Rounds(OperationKind::kUpdate, 4 + 24 + 9 + 64 + 2,
             [](uint64_t) { return std::string("STORED\r\n"); }),
      make);
}

#ifdef WEFT_BENCH_HAS_HIREDIS
TEST_F(ClientCost, OfRedis) {
  const auto make = [&](std::unique_ptr<Stream> stream) {
    return std::make_unique<RedisSession>(std::move(stream), format_, RedisSessionOptions{});
  };
  Run("redis GET, depth 32, 64 B",
      Rounds(OperationKind::kRead, 13 + 5 + 24 + 2,
             [&](uint64_t record) { return "$64\r\n" + Value(record) + "\r\n"; }),
      make);
  Run("redis SET, depth 32, 64 B",
      Rounds(OperationKind::kUpdate, 13 + 5 + 24 + 2 + 5 + 64 + 2,
             [](uint64_t) { return std::string("+OK\r\n"); }),
      make);
}
#endif

}  // namespace
}  // namespace weft::bench
