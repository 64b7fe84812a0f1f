#include "bench/play/play_policy.h"

#include <vector>

namespace weft::bench {
namespace {

// When what is stored ends, by record.
class Ends {
 public:
  explicit Ends(const Trace& trace) : ends_(trace.has_ttls ? trace.records() : 0, kNever) {}

  bool HasEnded(const TraceRequest& request) const {
    return !ends_.empty() && ends_[request.record] <= request.time_s;
  }
  void Note(const TraceRequest& request) {
    if (ends_.empty()) return;
    ends_[request.record] = request.ttl_s == 0 ? kNever : uint64_t{request.time_s} + request.ttl_s;
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  std::vector<uint64_t> ends_;
};

}  // namespace

TraceTally PlayPolicy(const Trace& trace, Policy* policy) {
  TraceTally tally(trace.requests.size());
  Ends ends(trace);
  for (uint64_t i = 0; i < trace.requests.size(); i++) {
    const TraceRequest& request = trace.requests[i];
    if (request.operation == TraceOperation::kDelete) {
      policy->Delete(request.record);
      tally.Delete(i);
      continue;
    }
    if (request.operation == TraceOperation::kGet) {
      if (ends.HasEnded(request)) policy->Delete(request.record);
      const bool is_hit = policy->Get(i, request.record);
      tally.Get(i, request.value_bytes, is_hit);
      if (is_hit) continue;
    }
    policy->Set(i, request.record, PolicyBytesOf(trace, request.record, request.value_bytes));
    ends.Note(request);
    tally.Set(i, true);
  }
  return tally;
}

}  // namespace weft::bench
