#include "bench/policy/w_tinylfu.h"

#include <algorithm>
#include <array>

#include "bench/policy/frequency_sketch.h"
#include "bench/policy/record_queue.h"

namespace weft::bench {
namespace {

// At least 1. Deletes have no bytes.
uint64_t ObjectsThatFit(uint64_t capacity, const Trace& trace) {
  uint64_t bytes = 0, requests = 0;
  for (const TraceRequest& request : trace.requests) {
    if (request.operation == TraceOperation::kDelete) continue;
    bytes += uint64_t{request.value_bytes} + trace.key_bytes[request.record];
    ++requests;
  }
  const uint64_t mean = std::max<uint64_t>(1, bytes / std::max<uint64_t>(1, requests));
  return std::clamp<uint64_t>(capacity / mean, 1, std::max(1u, trace.records()));
}

class WTinyLfu final : public Policy {
 public:
  WTinyLfu(uint64_t capacity, const Trace& trace)
      : window_capacity_(capacity / 100),
        main_capacity_(capacity - window_capacity_),
        protected_capacity_(main_capacity_ - main_capacity_ / 5),
        nodes_(trace.records()),
        sketch_(ObjectsThatFit(capacity, trace)) {}

  bool Get(uint64_t request, uint32_t record) override {
    Count(request, record);
    if (nodes_[record].queue == 0) return false;
    Use(record);
    return true;
  }

  void Set(uint64_t request, uint32_t record, uint32_t bytes) override {
    Count(request, record);
    if (bytes > main_capacity_) return Delete(record);
    if (probation_.Has(record) || protected_.Has(record)) return Replace(record, bytes);
    if (window_.Has(record)) window_.Remove(record);
    if (bytes > window_capacity_) return Admit(record, bytes);
    window_.Push(record, bytes);
    while (window_.bytes() > window_capacity_) {
      const uint32_t candidate = window_.oldest();
      window_.Remove(candidate);
      Admit(candidate, nodes_[candidate].bytes);
    }
  }

  void Delete(uint32_t record) override {
    for (RecordQueue* queue : {&window_, &probation_, &protected_})
      if (queue->Has(record)) queue->Remove(record);
  }

  uint64_t bytes() const override { return window_.bytes() + MainBytes(); }

 private:
  uint64_t MainBytes() const { return probation_.bytes() + protected_.bytes(); }

  // A get that misses, and the set that fills it, are one request.
  void Count(uint64_t request, uint32_t record) {
    if (request == request_counted_) return;
    request_counted_ = request;
    sketch_.Add(record);
  }

  // REQUIRES: it is held
  void Use(uint32_t record) {
    if (window_.Has(record)) return window_.Refresh(record);
    if (protected_.Has(record)) return protected_.Refresh(record);
    probation_.Remove(record);
    protected_.Push(record, nodes_[record].bytes);
    ShrinkProtected();
  }

  void ShrinkProtected() {
    while (protected_.bytes() > protected_capacity_) {
      const uint32_t record = protected_.oldest();
      protected_.Remove(record);
      probation_.Push(record, nodes_[record].bytes);
    }
  }

  // REQUIRES: it is in main
  void Replace(uint32_t record, uint32_t bytes) {
    Use(record);
    (probation_.Has(record) ? probation_ : protected_).Resize(record, bytes);
    ShrinkProtected();
    while (MainBytes() > main_capacity_) {
      const uint32_t victim = probation_.OldestBut(record);
      DropFromMain(victim != RecordQueue::kNone ? victim : protected_.OldestBut(record));
    }
  }

  void Admit(uint32_t candidate, uint32_t bytes) {
    if (MakeRoom(bytes, sketch_.CountOf(candidate))) probation_.Push(candidate, bytes);
  }

  // False, and only victims of no count have gone, where the victims' counts come to `count`.
  bool MakeRoom(uint32_t bytes, uint32_t count) {
    std::array<uint32_t, FrequencySketch::kCountMax> victims;  // each with a count of 1 at least
    uint32_t victims_found = 0;
    uint32_t victims_count = 0;
    uint64_t victims_bytes = 0;
    uint32_t next = RecordQueue::kNone;
    for (bool first = true; MainBytes() - victims_bytes + bytes > main_capacity_; first = false) {
      const uint32_t victim = first ? OldestOfMain() : next;
      next = After(victim);
      const uint32_t victim_count = sketch_.CountOf(victim);
      victims_count += victim_count;
      if (victims_count >= count) return false;
      if (victim_count == 0) {
        DropFromMain(victim);
      } else {
        victims[victims_found++] = victim;
        victims_bytes += nodes_[victim].bytes;
      }
    }
    for (uint32_t i = 0; i < victims_found; ++i) DropFromMain(victims[i]);
    return true;
  }

  uint32_t OldestOfMain() const {
    return probation_.oldest() != RecordQueue::kNone ? probation_.oldest() : protected_.oldest();
  }

  uint32_t After(uint32_t victim) const {
    const uint32_t younger = nodes_[victim].younger;
    const bool is_last = younger == RecordQueue::kNone && probation_.Has(victim);
    return is_last ? protected_.oldest() : younger;
  }

  void DropFromMain(uint32_t record) {
    (probation_.Has(record) ? probation_ : protected_).Remove(record);
  }

  // Constant after construction
  const uint64_t window_capacity_;
  const uint64_t main_capacity_;
  const uint64_t protected_capacity_;

  std::vector<RecordNode> nodes_;
  RecordQueue window_{nodes_, 1};
  RecordQueue probation_{nodes_, 2};
  RecordQueue protected_{nodes_, 3};
  FrequencySketch sketch_;
  uint64_t request_counted_ = UINT64_MAX;
};

}  // namespace

std::unique_ptr<Policy> MakeWTinyLfu(uint64_t capacity, const Trace& trace) {
  return std::make_unique<WTinyLfu>(capacity, trace);
}

}  // namespace weft::bench
