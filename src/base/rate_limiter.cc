#include "base/rate_limiter.h"

#include <algorithm>

#include "base/clock.h"

namespace weft::base {

namespace {

class SystemRateClock final : public RateClock {
 public:
  uint64_t NowNs() override { return base::NowNs(); }
  void WaitLocked(CondVar* change, Mutex* mutex, int ms) override WEFT_REQUIRES(mutex) {
    change->WaitFor(mutex, ms);
  }
};

RateClock* SystemClock() {
  static RateClock* const clock = new SystemRateClock;  // never freed: threads may outlive main
  return clock;
}

// bytes = rate * ns / 1e9 without overflow for any rate and up to hours.
uint64_t BytesIn(uint64_t rate, uint64_t ns) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(rate) * ns / kNsPerSecond);
}

}  // namespace

RateLimiter::RateLimiter(uint64_t bytes_per_second, RateClock* clock)
    : clock_(clock != nullptr ? clock : SystemClock()),
      rate_(bytes_per_second),
      refilled_ns_(clock_->NowNs()) {}

void RateLimiter::Request(uint64_t bytes, Priority priority) {
  if (rate() != 0) WaitForTokens(bytes, priority);
  totals_[static_cast<size_t>(priority)].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void RateLimiter::SetRate(uint64_t bytes_per_second) {
  MutexLock lock(&mutex_);
  RefillLocked();  // the time so far went by the old rate
  rate_.store(bytes_per_second, std::memory_order_relaxed);
  tokens_ = std::min(tokens_, BytesIn(bytes_per_second, kBurstMs * 1'000'000ull));
  change_.NotifyAll();
}

uint64_t RateLimiter::TotalBytes(Priority priority) const {
  return totals_[static_cast<size_t>(priority)].bytes.load(std::memory_order_relaxed);
}

uint64_t RateLimiter::TotalWaitNs(Priority priority) const {
  return totals_[static_cast<size_t>(priority)].wait_ns.load(std::memory_order_relaxed);
}

void RateLimiter::RefillLocked() {
  const uint64_t now_ns = clock_->NowNs();
  const uint64_t rate = this->rate();
  const uint64_t new_tokens = BytesIn(rate, now_ns - refilled_ns_);
  if (new_tokens == 0 && rate != 0) return;  // at low rates, so that no time is lost
  tokens_ = std::min(BucketBytes(), tokens_ + new_tokens);
  refilled_ns_ = now_ns;
}

uint64_t RateLimiter::BucketBytes() const {
  return std::max<uint64_t>(1, BytesIn(rate(), kBurstMs * 1'000'000ull));
}

bool RateLimiter::BothWaitLocked() const {
  return std::ranges::none_of(waiting_, [](const auto& queue) { return queue.empty(); });
}

RateLimiter::Priority RateLimiter::TurnLocked() const {
  if (BothWaitLocked()) return turn_left_ > 0 ? Priority::kCompaction : Priority::kFlush;
  const bool flushes = !waiting_[static_cast<size_t>(Priority::kFlush)].empty();
  return flushes ? Priority::kFlush : Priority::kCompaction;
}

bool RateLimiter::IsFirstLocked(Ticket ticket, Priority priority) const {
  return priority == TurnLocked() && waiting_[static_cast<size_t>(priority)].front() == ticket;
}

uint64_t RateLimiter::TakeLocked(uint64_t bytes, Priority priority) {
  RefillLocked();
  uint64_t taken = std::min(bytes, tokens_);
  if (!BothWaitLocked()) {
    taken_in_turn_ = turn_left_ = 0;
  } else if (priority == Priority::kCompaction) {
    taken = std::min(taken, turn_left_);
    turn_left_ -= taken;
    if (turn_left_ == 0) change_.NotifyAll();
  } else {
    taken_in_turn_ += taken;
    if (taken_in_turn_ >= (kLowerShare - 1) * BucketBytes()) {
      taken_in_turn_ = 0;
      turn_left_ = BucketBytes();
      change_.NotifyAll();
    }
  }
  tokens_ -= taken;
  return taken;
}

int RateLimiter::WaitMsLocked(uint64_t missing) const {
  const uint64_t rate = std::max<uint64_t>(1, this->rate());
  const uint64_t ms = missing > rate ? kBurstMs : missing * 1000 / rate + 1;
  return static_cast<int>(std::min<uint64_t>(ms, kBurstMs));
}

void RateLimiter::WaitForTokens(uint64_t bytes, Priority priority) {
  std::deque<Ticket>* queue;
  const uint64_t start_ns = clock_->NowNs();
  {
    MutexLock lock(&mutex_);
    queue = &waiting_[static_cast<size_t>(priority)];
    const Ticket ticket = next_ticket_++;
    queue->push_back(ticket);
    while (bytes > 0 && rate() != 0) {
      if (IsFirstLocked(ticket, priority)) bytes -= TakeLocked(bytes, priority);
      if (bytes == 0) break;
      const bool first = IsFirstLocked(ticket, priority);
      // One behind others waits to be told; kBurstMs then only bounds a missed word.
      clock_->WaitLocked(&change_, &mutex_, first ? WaitMsLocked(bytes) : kBurstMs);
    }
    queue->erase(std::find(queue->begin(), queue->end(), ticket));
    change_.NotifyAll();
  }
  totals_[static_cast<size_t>(priority)].wait_ns.fetch_add(clock_->NowNs() - start_ns,
                                                           std::memory_order_relaxed);
}

}  // namespace weft::base
