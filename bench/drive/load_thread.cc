#include "bench/drive/load_thread.h"

#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/machine.h"
#include "bench/harness/wait_for_events.h"

namespace weft::bench {
namespace {

constexpr uint64_t kSpinNs = 50'000;         // a thread is woken so late, at most, as a rule
constexpr uint64_t kLookNs = 100'000'000;    // at `stop`, and at the slice
constexpr uint64_t kDueLookNs = 5'000'000;   // where more is due: to see pauses of its own
constexpr uint64_t kPauseMinNs = 1'000'000;  // that the thread did not run, though it should have
constexpr int kEventsMax = 64;
// Edges alone, because the system looks again at a connection whose level it has reported.
constexpr uint32_t kWatched = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr uint64_t kDrainMax = 10;  // times the window

Status SystemError(const char* call) { return Status::FromErrno(call, errno); }

}  // namespace

Status LoadThread::Open(Target* target, int sessions, uint64_t operations) {
  left_ = operations;
  epoll_ = base::Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return SystemError("epoll_create1");
  const auto depth = static_cast<size_t>(options_.depth);
  batch_ = options_.batch > 0 ? std::min(static_cast<size_t>(options_.batch), depth) : depth;
  lines_.resize(static_cast<size_t>(sessions));
  under_way_.resize(lines_.size() * depth);
  for (size_t i = 0; i < lines_.size(); i++) {
    auto session = target->NewSession();
    if (!session) return session.error();
    Line& line = lines_[i];
    line.session = std::move(*session);
    for (size_t slot = 0; slot < depth; slot++) line.free.push_back(i * depth + slot);
    if (line.session->fd() < 0) continue;
    epoll_event event{.events = kWatched, .data = {.u64 = i}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, line.session->fd(), &event) != 0)
      return SystemError("epoll_ctl");
  }
  return Status::Ok();
}

Status LoadThread::Run(const LoadWindow& window, Recorder* recorder, Arrivals* arrivals) {
  window_ = window;
  recorder_ = recorder;
  is_open_loop_ = arrivals != nullptr;
  // What ended before the beginning would not be counted.
  for (uint64_t now_ns; (now_ns = base::NowNs()) < window_.start_ns;)
    std::this_thread::sleep_for(std::chrono::nanoseconds(window_.start_ns - now_ns));
  answered_ns_ = base::NowNs();
  Status status = is_open_loop_ ? RunOpen(arrivals) : RunClosed();
  if (!status.ok()) stop_.store(true, std::memory_order_relaxed);
  const uint64_t now_ns = base::NowNs();
  Count(std::max(now_ns, window_.begin_ns));
  if (counting_) {
    cpu_s_ = ThreadCpuSeconds() - cpu_begin_s_;
    counted_s_ = static_cast<double>(now_ns - count_begin_ns_) * 1e-9;
  }
  recorder_->End(now_ns);
  return status;
}

// Begins to count its CPU's time when the window begins.
void LoadThread::Count(uint64_t now_ns) {
  if (counting_ || now_ns < window_.begin_ns) return;
  counting_ = true;
  cpu_begin_s_ = ThreadCpuSeconds();
  count_begin_ns_ = now_ns;
}

Status LoadThread::RunClosed() {
  for (Line& line : lines_) {
    Status status = FillClosed(&line);
    if (!status.ok()) return status;
  }
  for (;;) {
    const uint64_t now_ns = base::NowNs();
    Count(now_ns);
    recorder_->ReachedNs(now_ns);
    if (is_over(now_ns) && count_ == 0) return Status::Ok();
    Status status = count_ == 0 ? Status::Ok() : Wait(now_ns + kLookNs);
    if (!status.ok()) return status;
  }
}

// Begins as many as a batch has, where as many have ended.
Status LoadThread::FillClosed(Line* line) {
  while (line->free.size() >= batch_) {
    const uint64_t now_ns = base::NowNs();
    if (is_over(now_ns)) return Status::Ok();
    while (round_.size() < batch_ && Begin(line, now_ns, &round_)) {
    }
    Status status = SubmitRound(line, &round_);
    if (!status.ok()) return status;
    if (line->session->fd() >= 0) continue;
    // An embedded store's stay in this loop, which must see the window and its end.
    recorder_->ReachedNs(now_ns);
    Count(now_ns);
  }
  return Status::Ok();
}

// Puts the next operation into the round. False: there is none.
bool LoadThread::Begin(Line* line, uint64_t from_ns, std::vector<Operation>* round) {
  Operation& operation = round->emplace_back();
  if (left_ == 0 || !stream_.Next(&operation)) {
    round->pop_back();
    exhausted_ = true;
    return false;
  }
  left_--;
  operation.tag = line->free.back();
  line->free.pop_back();
  UnderWay& under_way = under_way_[operation.tag];
  under_way.record = operation.record;
  under_way.from_ns = from_ns;
  under_way.kind = operation.kind;
  return true;
}

Status LoadThread::SubmitRound(Line* line, std::vector<Operation>* round) {
  if (round->empty()) return Status::Ok();
  count_ += round->size();
  Status status = line->session->Submit(*round);
  round->clear();
  if (!status.ok()) return status;
  if (line->session->fd() < 0) return TakeFrom(line);
  WatchWriting(line);
  return Status::Ok();
}

void LoadThread::WatchWriting(Line* line) {
  const bool wants = line->session->wants_to_write();
  if (wants == line->watches_writing) return;
  line->watches_writing = wants;
  epoll_event event{.events = kWatched | (wants ? EPOLLOUT : 0u),
                    .data = {.u64 = static_cast<uint64_t>(line - lines_.data())}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, line->session->fd(), &event);
}

Status LoadThread::TakeFrom(Line* line) {
  outcomes_.clear();
  Status status = line->session->Take(&outcomes_);
  if (!outcomes_.empty()) answered_ns_ = base::NowNs();
  if (is_open_loop_ && options_.burst > 1) HoldBurst(line);
  if (!outcomes_.empty()) {
    const uint64_t now_ns = answered_ns_;
    if (is_full_ || line->session->fd() < 0) free_since_ns_ = now_ns;
    is_full_ = false;
    for (const Outcome& outcome : outcomes_) {
      if (!Settle(outcome, now_ns)) return WhyWrong(outcome, *line);
      line->free.push_back(outcome.tag);
    }
  }
  if (status.ok() && line->session->fd() >= 0) WatchWriting(line);
  return status;
}

// A burst is answered when the last of it is.
void LoadThread::HoldBurst(Line* line) {
  line->held.insert(line->held.end(), outcomes_.begin(), outcomes_.end());
  outcomes_.clear();
  if (line->held.size() == static_cast<size_t>(options_.burst)) outcomes_.swap(line->held);
}

// False: the answer must not be (WhyWrong).
inline bool LoadThread::Settle(const Outcome& outcome, uint64_t now_ns) {
  const UnderWay& under_way = under_way_[outcome.tag];
  count_--;
  stream_.Settle(under_way.kind, under_way.record, outcome.outcome);
  const bool is_missing = outcome.outcome == OutcomeKind::kMissing;
  const bool by_right = is_missing && stream_.MissingByRight(under_way.record);
  const uint64_t at_ns = is_open_loop_ ? under_way.from_ns : now_ns;
  if (recorder_->Counts(at_ns)) {
    const uint64_t latency_ns = now_ns - std::min(now_ns, under_way.from_ns);
    recorder_->Add(under_way.kind, at_ns, latency_ns, outcome.records);
    recorder_->AddOutcome(outcome.outcome, by_right);
  }
  return outcome.outcome != OutcomeKind::kWrong &&
         !(is_missing && !by_right && options_.missing_is_wrong);
}

Status LoadThread::WhyWrong(const Outcome& outcome, const Line& line) const {
  const UnderWay& under_way = under_way_[outcome.tag];
  if (outcome.outcome == OutcomeKind::kWrong)
    return {Code::kCorruption,
            fmt::format("a {} of record {} was answered wrongly: {}", NameOf(under_way.kind),
                        under_way.record, line.session->FirstError())};
  return {Code::kCorruption, fmt::format("record {} was stored, but is missing", under_way.record)};
}

// Waits for answers until then and takes them. With 0 it only looks.
Status LoadThread::Wait(uint64_t until_ns) {
  const uint64_t now_ns = base::NowNs();
  const uint64_t wait_ns = until_ns - std::min(until_ns, now_ns);
  const timespec timeout{.tv_sec = static_cast<time_t>(wait_ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(wait_ns % 1'000'000'000)};
  epoll_event events[kEventsMax];
  const int ready = WaitForEvents(epoll_.get(), events, kEventsMax, &timeout);
  if (ready < 0 && errno != EINTR) return SystemError("wait for events");
  for (int i = 0; i < ready; i++) {
    Line& line = lines_[events[i].data.u64];
    Status status = TakeFrom(&line);
    // The end of the connection may lie behind the bytes that were taken, and is told of once.
    if (status.ok() && (events[i].events & (EPOLLRDHUP | EPOLLHUP))) status = TakeFrom(&line);
    if (status.ok() && !is_open_loop_) status = FillClosed(&line);
    if (!status.ok()) return status;
  }
  // Of this time only what was before: this thread itself may have been stopped meanwhile.
  return ready > 0 ? Status::Ok() : CheckPatience(now_ns);
}

Status LoadThread::CheckPatience(uint64_t now_ns) {
  if (count_ == 0) answered_ns_ = now_ns;
  const double silent_s = static_cast<double>(now_ns - std::min(now_ns, answered_ns_)) * 1e-9;
  if (silent_s < options_.patience_s) return Status::Ok();
  return {Code::kIoError, fmt::format("{} operations are in flight, but there was no answer for "
                                      "{:.1f} s",
                                      count_, silent_s)};
}

// The thread was to go on at `from_ns`, and did so at `to_ns`.
void LoadThread::NotePause(uint64_t from_ns, uint64_t to_ns) {
  const bool is_stores = lines_.front().session->fd() < 0;  // a store in this thread took the time
  if (!is_stores && from_ns + kPauseMinNs <= to_ns) pauses_.push_back({from_ns, to_ns});
}

// How late the client itself is with what was due then and begins now. What waits for a session
// waits for the store. What was due in a pause of the client is late by the rest of it, at least.
// Sessions that are full behind a pause may be so because much is due at once.
uint64_t LoadThread::LagOf(uint64_t due_ns, uint64_t now_ns) {
  while (!pauses_.empty() && pauses_.front().end_ns <= due_ns) pauses_.pop_front();
  const bool in_pause = !pauses_.empty() && pauses_.front().begin_ns <= due_ns;
  const uint64_t could_begin_ns = std::min(now_ns, std::max(due_ns, free_since_ns_));
  return std::max(now_ns - could_begin_ns, in_pause ? pauses_.front().end_ns - due_ns : 0);
}

// Of an open loop that never catches up.
uint64_t LoadThread::GiveUpNs() const {
  if (window_.end_ns == UINT64_MAX) return UINT64_MAX;
  const auto patience_ns = static_cast<uint64_t>(options_.patience_s * 1e9);
  return window_.end_ns + std::max(kDrainMax * (window_.end_ns - window_.start_ns), patience_ns);
}

Status LoadThread::RunOpen(Arrivals* arrivals) {
  uint64_t due_ns = window_.start_ns + arrivals->NextNs();
  const uint64_t give_up_ns = GiveUpNs();
  for (;;) {
    uint64_t now_ns = base::NowNs();
    Count(now_ns);
    recorder_->ReachedNs(now_ns);
    // What is due within the window is begun, however late.
    bool over = exhausted_ || due_ns >= window_.end_ns || stop_.load(std::memory_order_relaxed);
    const bool may_end =
        exhausted_ || now_ns >= window_.end_ns || stop_.load(std::memory_order_relaxed);
    if (over && count_ == 0 && may_end) return Status::Ok();
    if (now_ns >= give_up_ns)
      return {
          Code::kRetryLater,
          fmt::format("{:.1f} s of the schedule have not begun {:.1f} s after its end: the rate is "
                      "far above what the target can do",
                      static_cast<double>(window_.end_ns - std::min(window_.end_ns, due_ns)) * 1e-9,
                      static_cast<double>(now_ns - window_.end_ns) * 1e-9)};
    while (!over && due_ns <= now_ns && BeginDue(due_ns, now_ns)) {
      due_ns = window_.start_ns + arrivals->NextNs();
      over = exhausted_ || due_ns >= window_.end_ns;
    }
    for (Line& line : lines_) {
      Status status = SubmitRound(&line, &line.round);
      if (!status.ok()) return status;
    }
    // An embedded store has answered already: what is due next begins at once.
    const bool waits_for_answers = over || (due_ns <= now_ns && count_ > 0);
    const uint64_t submitted_ns = base::NowNs();
    NotePause(now_ns, submitted_ns);
    uint64_t until_ns = submitted_ns + (waits_for_answers && !over ? kDueLookNs : kLookNs);
    if (over && count_ == 0) until_ns = std::min(until_ns, window_.end_ns);
    if (!waits_for_answers) {
      if (due_ns <= submitted_ns) continue;
      until_ns = due_ns - submitted_ns > kSpinNs ? std::min(due_ns - kSpinNs, until_ns) : 0;
    }
    const uint64_t answered_ns = answered_ns_;
    Status status = Wait(until_ns);
    if (!status.ok()) return status;
    // Where no session was free and none is, nothing was missed.
    if (!waits_for_answers || answered_ns_ != answered_ns)
      NotePause(std::max(until_ns, submitted_ns), base::NowNs());
  }
}

// False: every session is full.
bool LoadThread::BeginDue(uint64_t due_ns, uint64_t now_ns) {
  const auto burst = static_cast<size_t>(options_.burst);
  for (size_t tries = 0; tries < lines_.size(); tries++) {
    Line& line = lines_[next_line_];
    next_line_ = next_line_ + 1 == lines_.size() ? 0 : next_line_ + 1;
    // An embedded store is asked for one at a time: the next one waits for it.
    if (line.free.size() < burst || (line.session->fd() < 0 && !line.round.empty())) continue;
    for (size_t i = 0; i < burst; i++)
      if (!Begin(&line, due_ns, &line.round)) return true;
    if (recorder_->Counts(due_ns)) recorder_->AddLag(LagOf(due_ns, now_ns));
    return true;
  }
  is_full_ = true;
  return false;
}

}  // namespace weft::bench
