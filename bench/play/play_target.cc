#include "bench/play/play_target.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "bench/target/round_trip.h"

namespace weft::bench {
namespace {

// Keeps the requests of each key in their order, where several threads play a trace.
class KeyOrder {
 public:
  explicit KeyOrder(const Trace& trace) : before_(trace.requests.size()), done_(before_.size()) {
    std::vector<uint64_t> last(trace.records(), kNone);
    for (uint64_t i = 0; i < before_.size(); i++)
      before_[i] = std::exchange(last[trace.requests[i].record], i);
  }

  // Until the request before `i` of the same key has ended. Ends: another thread has taken that one
  // already, for they are taken in order. False: `failed`.
  bool Await(uint64_t i, const std::atomic<bool>& failed) const {
    if (before_[i] == kNone) return true;
    while (!done_[before_[i]].load(std::memory_order_acquire)) {
      if (failed.load(std::memory_order_relaxed)) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void End(uint64_t i) { done_[i].store(true, std::memory_order_release); }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;

  std::vector<uint64_t> before_;  // the request before each, of the same key
  std::vector<std::atomic<bool>> done_;
};

class Player {
 public:
  Player(const Trace& trace, const TracePlayOptions& options, std::atomic<uint64_t>* played)
      : trace_(trace), options_(options), played_(*played) {
    if (options.connections > 1) order_.emplace(trace);
  }

  // Until the trace has ended or one of the threads has failed.
  Status Play(Session* session, TraceTally* tally) {
    std::vector<Outcome> outcomes;
    const Asker ask = [&](const Operation& operation) -> Result<OutcomeKind> {
      const Status status = RoundTrip(session, {&operation, 1}, &outcomes);
      if (!status.ok()) return status;
      return outcomes[0].outcome;
    };
    for (;;) {
      const uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= trace_.requests.size() || failed_.load(std::memory_order_relaxed))
        return Status::Ok();
      WaitUntilDue(i);
      if (order_ && !order_->Await(i, failed_)) return Status::Ok();
      if (Status status = PlayOne(ask, i, tally); !status.ok()) {
        failed_ = true;
        return status;
      }
      if (order_) order_->End(i);
      played_.fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  using Asker = std::function<Result<OutcomeKind>(const Operation&)>;

  Status PlayOne(const Asker& ask, uint64_t i, TraceTally* tally) {
    const TraceRequest& request = trace_.requests[i];
    Operation operation;
    operation.record = request.record;
    operation.version = request.value_bytes;
    if (request.operation == TraceOperation::kDelete) {
      operation.kind = OperationKind::kDelete;
      const auto deleted = ask(operation);
      if (!deleted) return deleted.error();
      tally->Delete(i);
      return Status::Ok();
    }
    if (request.operation == TraceOperation::kGet) {
      operation.kind = OperationKind::kRead;
      const auto got = ask(operation);
      if (!got) return got.error();
      tally->Get(i, request.value_bytes, got.value() == OutcomeKind::kDone);
      if (got.value() == OutcomeKind::kDone) return Status::Ok();
    }
    operation.kind = OperationKind::kInsert;
    operation.ttl_s = TtlOf(request);
    const auto set = ask(operation);
    if (!set) return set.error();
    tally->Set(i, set.value() == OutcomeKind::kDone);
    return Status::Ok();
  }

  uint32_t TtlOf(const TraceRequest& request) const {
    if (options_.pace == 0 || request.ttl_s == 0) return 0;
    return static_cast<uint32_t>(std::max(1.0, std::ceil(request.ttl_s / options_.pace)));
  }

  void WaitUntilDue(uint64_t i) const {
    double due_s = options_.rate == 0 ? 0 : static_cast<double>(i) / options_.rate;
    if (options_.pace != 0) due_s = std::max(due_s, trace_.requests[i].time_s / options_.pace);
    const uint64_t due_ns = begin_ns_ + static_cast<uint64_t>(due_s * 1e9);
    const uint64_t now_ns = base::NowNs();
    if (due_ns > now_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(due_ns - now_ns));
  }

  const Trace& trace_;
  const TracePlayOptions& options_;
  const uint64_t begin_ns_ = base::NowNs();
  std::atomic<uint64_t>& played_;
  std::optional<KeyOrder> order_;  // of several connections
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace

Result<RecordFormat> FormatOf(const Trace& trace) {
  uint32_t least = kTraceValueBytesMax, most = kTraceValueBytesMin;
  for (const TraceRequest& request : trace.requests) {
    if (request.operation == TraceOperation::kDelete) continue;
    least = std::min(least, request.value_bytes);
    most = std::max(most, request.value_bytes);
  }
  RecordOptions options;
  options.value_bytes = SizeDistribution::Uniform(std::min(least, most), most);
  options.version_is_size = true;
  options.key_bytes_of = std::make_shared<const std::vector<uint8_t>>(trace.key_bytes);
  return RecordFormat::Make(options);
}

Result<TraceTally> PlayTarget(const Trace& trace, Target* target, const TracePlayOptions& options,
                              std::atomic<uint64_t>* played) {
  const auto count = static_cast<size_t>(options.connections);
  std::vector<std::unique_ptr<Session>> sessions;
  for (size_t i = 0; i < count; i++) {
    auto session = target->NewSession();
    if (!session) return session.error();
    sessions.push_back(std::move(*session));
  }
  Player player(trace, options, played);
  std::vector<TraceTally> tallies(count, TraceTally(trace.requests.size()));
  std::vector<Status> statuses(count);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; i++)
    threads.emplace_back([&, i] { statuses[i] = player.Play(sessions[i].get(), &tallies[i]); });
  for (std::thread& thread : threads) thread.join();
  TraceTally total(trace.requests.size());
  for (size_t i = 0; i < count; i++) {
    if (!statuses[i].ok()) return statuses[i];
    total.Add(tallies[i]);
  }
  return total;
}

}  // namespace weft::bench
