// An operation allocates nothing in the client. Its CPU time is printed.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <cstdlib>
#include <new>

#include <fmt/format.h>

#include "base/clock.h"
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
void ConnectBoth(base::Fd* client, int* server) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes);
  *client = std::move(Connect({"127.0.0.1", ntohs(address.sin_port), ""}).value());
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

// Sessions of one thread, each with a round under way, as a load has them.
class Sessions {
 public:
  explicit Sessions(const std::vector<Round>& rounds) : rounds_(rounds) {
    outcomes_.reserve(kDepth);
  }
  ~Sessions() { close(epoll_); }

  void Add(std::unique_ptr<Session> session) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = lines_.size()}};
    ASSERT_EQ(epoll_ctl(epoll_, EPOLL_CTL_ADD, session->fd(), &event), 0);
    lines_.push_back({std::move(session), 0, 0, 0});
  }

  // Each carries that many more rounds out; false where something went wrong.
  bool CarryOut(size_t rounds) {
    rounds_left_ = rounds * lines_.size();
    for (Line& line : lines_) {
      line.end = line.round + rounds;
      if (!Begin(&line)) return false;
    }
    while (rounds_left_ > 0) {
      epoll_event ready[64];
      const int count = epoll_wait(epoll_, ready, 64, 10'000);
      if (count <= 0) return false;
      for (int i = 0; i < count; ++i)
        if (!Take(&lines_[ready[i].data.u64])) return false;
    }
    return true;
  }

 private:
  struct Line {
    std::unique_ptr<Session> session;
    size_t round;
    size_t end;
    size_t answered;  // of the round
  };

  bool Begin(Line* line) {
    line->answered = 0;
    return line->session->Submit(rounds_[line->round % rounds_.size()].operations).ok();
  }

  bool Take(Line* line) {
    outcomes_.clear();
    if (!line->session->Take(&outcomes_).ok()) return false;
    for (const Outcome& outcome : outcomes_)
      if (outcome.outcome != OutcomeKind::kDone) return false;
    line->answered += outcomes_.size();
    if (line->answered < kDepth) return true;
    --rounds_left_;
    return ++line->round == line->end || Begin(line);
  }

  const std::vector<Round>& rounds_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Line> lines_;
  std::vector<Outcome> outcomes_;
  size_t rounds_left_ = 0;
};

void Measure(std::string_view what, size_t count, Sessions* sessions) {
  ASSERT_TRUE(sessions->CarryOut(kRounds));
  const size_t rounds = kRounds * (kIsSlow ? 20 : 300) / count;
  const uint64_t allocations_before = allocations;
  const uint64_t cpu_before = base::ThreadCpuNs();
  ASSERT_TRUE(sessions->CarryOut(rounds));
  const double cpu_us = static_cast<double>(base::ThreadCpuNs() - cpu_before) * 1e-3;
  const auto operations = static_cast<double>(rounds * count * kDepth);
  EXPECT_EQ(allocations, allocations_before);
  fmt::print("{}, depth 32, 64 B, {} session{}: {:.3f} us of CPU an operation\n", what, count,
             count == 1 ? "" : "s", cpu_us / operations);
}

class ClientCost : public testing::Test {
 protected:
  std::string Key(uint64_t record) const { return std::string(RecordKey(format_, record)); }
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
  // One session sleeps for each round's answer, and its thread is woken for it; several keep their
  // thread busy, as those of a load do.
  template <typename Make>
  void Run(std::string_view what, const std::vector<Round>& rounds, const Make& make) {
    for (const size_t count : {1, 8}) {
      std::vector<std::thread> threads;
      {
        Sessions sessions(rounds);
        for (size_t i = 0; i < count; ++i) {
          base::Fd client;
          int server = -1;
          ASSERT_NO_FATAL_FAILURE(ConnectBoth(&client, &server));
          threads.emplace_back([server, &rounds] { Serve(server, rounds); });
          sessions.Add(make(std::make_unique<Stream>(std::move(client))));
        }
        Measure(what, count, &sessions);
      }
      for (std::thread& thread : threads) thread.join();
    }
  }

  const RecordFormat format_ = RecordFormat::OfSizes(24, 64);
};

TEST_F(ClientCost, OfMemcached) {
  const auto make = [&](std::unique_ptr<Stream> stream) {
    return std::make_unique<MemcachedSession>(std::move(stream), format_, false);
  };
  Run("memcached get",
      Rounds(OperationKind::kRead, 4 + 24 + 2,
             [&](uint64_t record) {
               return "VALUE " + Key(record) + " 0 64\r\n" + Value(record) + "\r\nEND\r\n";
             }),
      make);
  Run("memcached set",
      Rounds(OperationKind::kUpdate, 4 + 24 + 9 + 64 + 2,
             [](uint64_t) { return std::string("STORED\r\n"); }),
      make);
}

#ifdef WEFT_BENCH_HAS_HIREDIS
TEST_F(ClientCost, OfRedis) {
  const auto make = [&](std::unique_ptr<Stream> stream) {
    return std::make_unique<RedisSession>(std::move(stream), format_, RedisSessionOptions{});
  };
  Run("redis GET",
      Rounds(OperationKind::kRead, 13 + 5 + 24 + 2,
             [&](uint64_t record) { return "$64\r\n" + Value(record) + "\r\n"; }),
      make);
  Run("redis SET",
      Rounds(OperationKind::kUpdate, 13 + 5 + 24 + 2 + 5 + 64 + 2,
             [](uint64_t) { return std::string("+OK\r\n"); }),
      make);
}
#endif

}  // namespace
}  // namespace weft::bench
