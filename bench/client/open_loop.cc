#include "bench/client/open_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <deque>

#include "base/clock.h"
#include "base/random.h"

namespace weft::bench {
namespace {

constexpr uint64_t kDrainNs = 5'000'000'000;  // after the last due instant

// The instants at which rounds are due. Fixed by the options alone.
class Schedule {
 public:
  Schedule(const OpenLoopOptions& options, uint64_t start_ns)
      : gap_ns_(1e9 / options.rounds_per_s),
        poisson_(options.poisson),
        random_(options.seed),
        due_ns_(static_cast<double>(start_ns)) {
    Advance();
  }
  uint64_t due_ns() const { return static_cast<uint64_t>(due_ns_); }
  void Advance() { due_ns_ += poisson_ ? -std::log(1 - random_.Unit()) * gap_ns_ : gap_ns_; }

 private:
  const double gap_ns_;
  const bool poisson_;
  base::Random random_;
  double due_ns_;
};

class OpenLoop {
 public:
  OpenLoop(const OpenLoopOptions& options, RoundSource& source)
      : options_(options), source_(source) {}
  ~OpenLoop() {
    if (epoll_ >= 0) close(epoll_);
  }

  Status Open();
  OpenLoopResult Run();

 private:
  void SendDue(Schedule* schedule, uint64_t end_ns);
  void Poll();

  const OpenLoopOptions& options_;
  RoundSource& source_;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<uint64_t> due_ns_;  // of the round under way on each connection
  std::deque<size_t> idle_;
  OpenLoopResult result_;
};

Status OpenLoop::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return Status::FromErrno("epoll_create1", errno);
  for (size_t i = 0; i < options_.connections; ++i) {
    auto connection = Connection::Open(options_.port, options_.shape);
    if (!connection) return connection.error();
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.u64 = i;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, (*connection)->fd(), &event) != 0)
      return Status::FromErrno("epoll_ctl", errno);
    connections_.push_back(std::move(*connection));
    idle_.push_back(i);
  }
  due_ns_.resize(connections_.size());
  return Status::Ok();
}

void OpenLoop::SendDue(Schedule* schedule, uint64_t end_ns) {
  while (!idle_.empty() && schedule->due_ns() < end_ns) {
    const uint64_t now = base::NowNs();
    if (schedule->due_ns() > now) return;
    const size_t index = idle_.front();
    idle_.pop_front();
    Connection& connection = *connections_[index];
    connection.round().Clear();
    source_.Fill(index, &connection.round());
    due_ns_[index] = schedule->due_ns();
    result_.send_lag_ns.Record(now - schedule->due_ns());
    schedule->Advance();
    connection.Send(&result_.counts);
  }
}

void OpenLoop::Poll() {
  epoll_event events[kEventsMax];
  const int ready = epoll_wait(epoll_, events, kEventsMax, 0);
  for (int e = 0; e < ready; ++e) {
    const size_t index = events[e].data.u64;
    Connection& connection = *connections_[index];
    if (events[e].events & EPOLLOUT) connection.Flush();
    if (!connection.busy() || !connection.Receive()) continue;
    result_.latency_ns.Record(base::NowNs() - due_ns_[index], connection.round().op_count());
    source_.Done(index, connection.round());
    idle_.push_back(index);
  }
}

OpenLoopResult OpenLoop::Run() {
  const uint64_t start = base::NowNs();
  const uint64_t end = start + static_cast<uint64_t>(options_.seconds * 1e9);
  Schedule schedule(options_, start);
  while (result_.counts.errors == 0) {
    const bool all_sent = schedule.due_ns() >= end;
    if (all_sent && idle_.size() == connections_.size()) break;
    if (base::NowNs() > end + kDrainNs) break;
    SendDue(&schedule, end);
    Poll();
  }
  result_.wall_s = static_cast<double>(base::NowNs() - start) * 1e-9;
  for (; schedule.due_ns() < end; schedule.Advance()) ++result_.unsent;
  return std::move(result_);
}

}  // namespace

Result<OpenLoopResult> RunOpenLoop(const OpenLoopOptions& options, RoundSource& source) {
  OpenLoop loop(options, source);
  const Status opened = loop.Open();
  if (!opened.ok()) return opened;
  return loop.Run();
}

}  // namespace weft::bench
