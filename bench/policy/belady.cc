#include "bench/policy/belady.h"

#include "base/check.h"
#include "bench/policy/farthest_use.h"

namespace weft::bench {
namespace {

constexpr uint32_t kNoNextGet = UINT32_MAX;

// By request: the number of the record's next one, where that is a get.
std::vector<uint32_t> NextGets(const Trace& trace) {
  WEFT_CHECK(trace.requests.size() < kNoNextGet);
  std::vector<uint32_t> next(trace.requests.size());
  std::vector<uint32_t> of_record(trace.records(), kNoNextGet);
  for (auto i = static_cast<uint32_t>(trace.requests.size()); i-- > 0;) {
    const TraceRequest& request = trace.requests[i];
    next[i] = of_record[request.record];
    of_record[request.record] = request.operation == TraceOperation::kGet ? i : kNoNextGet;
  }
  return next;
}

class Belady final : public Policy {
 public:
  Belady(uint64_t capacity, const Trace& trace)
      : capacity_(capacity),
        next_gets_(NextGets(trace)),
        bytes_of_(trace.records()),
        held_(trace.records()) {}

  bool Get(uint64_t request, uint32_t record) override {
    if (!held_.Has(record)) return false;
    Keep(request, record);
    return true;
  }

  void Set(uint64_t request, uint32_t record, uint32_t bytes) override {
    Delete(record);
    if (bytes > capacity_) return;
    bytes_of_[record] = bytes;
    bytes_ += bytes;
    Keep(request, record);
    while (bytes_ > capacity_) Drop(held_.farthest());
  }

  void Delete(uint32_t record) override {
    if (held_.Has(record)) Drop(record);
  }

  uint64_t bytes() const override { return bytes_; }

 private:
  void Keep(uint64_t request, uint32_t record) {
    held_.Put(record, next_gets_[request]);
    if (next_gets_[request] == kNoNextGet) Drop(record);
  }

  void Drop(uint32_t record) {
    held_.Remove(record);
    bytes_ -= bytes_of_[record];
  }

  const uint64_t capacity_;
  const std::vector<uint32_t> next_gets_;  // by request
  std::vector<uint32_t> bytes_of_;         // by record
  FarthestUse held_;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Policy> MakeBelady(uint64_t capacity, const Trace& trace) {
  return std::make_unique<Belady>(capacity, trace);
}

}  // namespace weft::bench
