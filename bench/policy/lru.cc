#include "bench/policy/lru.h"

#include "bench/policy/record_queue.h"

namespace weft::bench {
namespace {

class Lru final : public Policy {
 public:
  Lru(uint64_t capacity, uint32_t records) : capacity_(capacity), nodes_(records) {}

  bool Get(uint64_t /*request*/, uint32_t record) override {
    if (!held_.Has(record)) return false;
    held_.Refresh(record);
    return true;
  }

  void Set(uint64_t /*request*/, uint32_t record, uint32_t bytes) override {
    Delete(record);
    if (bytes > capacity_) return;
    while (held_.bytes() + bytes > capacity_) held_.Remove(held_.oldest());
    held_.Push(record, bytes);
  }

  void Delete(uint32_t record) override {
    if (held_.Has(record)) held_.Remove(record);
  }

  uint64_t bytes() const override { return held_.bytes(); }

 private:
  const uint64_t capacity_;
  std::vector<RecordNode> nodes_;
  RecordQueue held_{nodes_, 1};
};

}  // namespace

std::unique_ptr<Policy> MakeLru(uint64_t capacity, uint32_t records) {
  return std::make_unique<Lru>(capacity, records);
}

}  // namespace weft::bench
