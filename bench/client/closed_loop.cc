#include "bench/client/closed_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr int kPatienceMs = 10'000;  // a server that says nothing for so long is stuck

}  // namespace

void LoadResult::Merge(const LoadResult& other) {
  counts.Merge(other.counts);
  wall_s = std::max(wall_s, other.wall_s);
  client_cpu_s += other.client_cpu_s;
  client_busy = std::max(client_busy, other.client_busy);
  round_ns.Merge(other.round_ns);
}

Result<std::unique_ptr<ClosedLoop>> ClosedLoop::Open(uint16_t port, size_t connections,
                                                     const PayloadShape& shape) {
  std::unique_ptr<ClosedLoop> loop(new ClosedLoop);
  loop->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (loop->epoll_ < 0) return Status::FromErrno("epoll_create1", errno);
  for (size_t i = 0; i < connections; ++i) {
    auto connection = Connection::Open(port, shape);
    if (!connection) return connection.error();
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.u64 = i;
    if (epoll_ctl(loop->epoll_, EPOLL_CTL_ADD, (*connection)->fd(), &event) != 0)
      return Status::FromErrno("epoll_ctl", errno);
    loop->connections_.push_back(std::move(*connection));
  }
  loop->sent_ns_.resize(connections);
  return loop;
}

ClosedLoop::~ClosedLoop() {
  if (epoll_ >= 0) close(epoll_);
}

bool ClosedLoop::Next(size_t index, RoundSource& source, LoadResult* result) {
  Connection& connection = *connections_[index];
  connection.round().Clear();
  source.Fill(index, &connection.round());
  if (connection.round().empty()) return false;
  sent_ns_[index] = base::NowNs();
  connection.Send(&result->counts);
  return !connection.failed();
}

LoadResult ClosedLoop::Run(RoundSource& source, double seconds) {
  LoadResult result;
  const uint64_t start = base::NowNs();
  const double cpu_start = ThreadCpuSeconds();
  const uint64_t deadline = seconds > 0 ? start + static_cast<uint64_t>(seconds * 1e9) : UINT64_MAX;
  size_t under_way = 0;
  for (size_t i = 0; i < connections_.size(); ++i) under_way += Next(i, source, &result);
  epoll_event events[kEventsMax];
  while (under_way > 0 && result.counts.errors == 0) {
    const int ready = epoll_wait(epoll_, events, kEventsMax, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      ++result.counts.errors;
      result.counts.first_error = "no reply for ten seconds";
      break;
    }
    for (int e = 0; e < ready; ++e) {
      const size_t index = events[e].data.u64;
      Connection& connection = *connections_[index];
      if (events[e].events & EPOLLOUT) connection.Flush();
      if (!connection.busy() || !connection.Receive()) continue;
      const uint64_t now = base::NowNs();
      result.round_ns.Record(now - sent_ns_[index]);
      source.Done(index, connection.round());
      if (connection.failed() || now >= deadline || !Next(index, source, &result)) --under_way;
    }
  }
  result.wall_s = static_cast<double>(base::NowNs() - start) * 1e-9;
  result.client_cpu_s = ThreadCpuSeconds() - cpu_start;
  result.client_busy = result.wall_s > 0 ? result.client_cpu_s / result.wall_s : 0;
  return result;
}

LoadResult RunSideBySide(const std::vector<std::unique_ptr<ClosedLoop>>& clients,
                         const std::vector<std::unique_ptr<RoundSource>>& sources,
                         const std::vector<int>& cpus, double seconds) {
  std::vector<LoadResult> results(clients.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] {
      if (!cpus.empty()) PinTo(0, {cpus[i % cpus.size()]});
      results[i] = clients[i]->Run(*sources[i], seconds);
    });
  }
  LoadResult all;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    all.Merge(results[i]);
  }
  return all;
}

}  // namespace weft::bench
