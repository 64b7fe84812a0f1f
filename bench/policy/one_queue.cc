#include "bench/policy/one_queue.h"

#include "bench/policy/record_queue.h"

namespace weft::bench {
namespace {

class OneQueue : public Policy {
 public:
  OneQueue(uint64_t capacity, uint32_t records) : capacity_(capacity), nodes_(records) {}

  void Delete(uint32_t record) override {
    if (held_.Has(record)) held_.Remove(record);
  }
  uint64_t bytes() const override { return held_.bytes(); }

 protected:
  const uint64_t capacity_;
  std::vector<RecordNode> nodes_;
  RecordQueue held_{nodes_, 1};
};

class Fifo final : public OneQueue {
 public:
  using OneQueue::OneQueue;

  bool Get(uint64_t /*request*/, uint32_t record) override { return held_.Has(record); }

  void Set(uint64_t /*request*/, uint32_t record, uint32_t bytes) override {
    if (bytes > capacity_) return Delete(record);
    if (held_.Has(record)) {
      held_.Resize(record, bytes);
    } else {
      held_.Push(record, bytes);
    }
    // What is stored here stays, also where it is the oldest and has grown.
    while (held_.bytes() > capacity_) held_.Remove(held_.OldestBut(record));
  }
};

class Lru final : public OneQueue {
 public:
  using OneQueue::OneQueue;

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
};

}  // namespace

std::unique_ptr<Policy> MakeFifo(uint64_t capacity, uint32_t records) {
  return std::make_unique<Fifo>(capacity, records);
}

std::unique_ptr<Policy> MakeLru(uint64_t capacity, uint32_t records) {
  return std::make_unique<Lru>(capacity, records);
}

}  // namespace weft::bench
