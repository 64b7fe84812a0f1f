#include "bench/policy/s3_fifo.h"

#include <algorithm>

#include "bench/policy/record_queue.h"

namespace weft::bench {
namespace {

constexpr uint8_t kUsesToMove = 2;
constexpr uint8_t kUsesCounted = 3;

class S3Fifo final : public Policy {
 public:
  S3Fifo(uint64_t capacity, uint32_t records, bool with_ghosts)
      : capacity_(capacity),
        small_capacity_(capacity / 10),
        ghost_capacity_(with_ghosts ? capacity - small_capacity_ : 0),
        nodes_(records) {}

  bool Get(uint64_t /*request*/, uint32_t record) override {
    if (!Holds(record)) return false;
    Use(record);
    return true;
  }

  void Set(uint64_t /*request*/, uint32_t record, uint32_t bytes) override {
    if (bytes > capacity_) return Delete(record);
    if (Holds(record)) {
      Use(record);
      (small_.Has(record) ? small_ : main_).Resize(record, bytes);
      MakeRoom(0, record);
    } else {
      const bool was_ghost = ghosts_.Has(record);
      if (was_ghost) ghosts_.Remove(record);
      MakeRoom(bytes, RecordQueue::kNone);
      Enter(was_ghost ? main_ : small_, record, bytes);
    }
  }

  void Delete(uint32_t record) override {
    for (RecordQueue* queue : {&small_, &main_, &ghosts_})
      if (queue->Has(record)) queue->Remove(record);
  }

  uint64_t bytes() const override { return small_.bytes() + main_.bytes(); }

 private:
  bool Holds(uint32_t record) const { return small_.Has(record) || main_.Has(record); }

  void Use(uint32_t record) {
    nodes_[record].uses = std::min<uint8_t>(kUsesCounted, nodes_[record].uses + 1);
  }

  void Enter(RecordQueue& queue, uint32_t record, uint32_t bytes) {
    nodes_[record].uses = 0;
    queue.Push(record, bytes);
  }

  // Drops until so many more bytes fit. `kept` stays: there are others, since it fits alone.
  void MakeRoom(uint32_t more, uint32_t kept) {
    while (bytes() + more > capacity_) {
      const bool small_has = small_.OldestBut(kept) != RecordQueue::kNone;
      const bool main_has = main_.OldestBut(kept) != RecordQueue::kNone;
      if (small_has && (!main_has || small_.bytes() >= small_capacity_)) {
        DropFromSmall(kept);
      } else {
        DropFromMain(kept);
      }
    }
  }

  // Drops one, or none where all move to main.
  void DropFromSmall(uint32_t kept) {
    for (;;) {
      const uint32_t record = small_.OldestBut(kept);
      if (record == RecordQueue::kNone) return;
      const RecordNode node = nodes_[record];
      small_.Remove(record);
      if (node.uses < kUsesToMove) return Remember(record, node.bytes);
      Enter(main_, record, node.bytes);
    }
  }

  // REQUIRES: main has another than `kept`
  void DropFromMain(uint32_t kept) {
    for (;;) {
      const uint32_t record = main_.OldestBut(kept);
      if (nodes_[record].uses == 0) return main_.Remove(record);
      --nodes_[record].uses;
      main_.Refresh(record);
    }
  }

  void Remember(uint32_t record, uint32_t bytes) {
    if (bytes > ghost_capacity_) return;
    while (ghosts_.bytes() + bytes > ghost_capacity_) ghosts_.Remove(ghosts_.oldest());
    ghosts_.Push(record, bytes);
  }

  const uint64_t capacity_;
  const uint64_t small_capacity_;
  const uint64_t ghost_capacity_;
  std::vector<RecordNode> nodes_;
  RecordQueue small_{nodes_, 1};
  RecordQueue main_{nodes_, 2};
  RecordQueue ghosts_{nodes_, 3};
};

}  // namespace

std::unique_ptr<Policy> MakeS3Fifo(uint64_t capacity, uint32_t records, bool with_ghosts) {
  return std::make_unique<S3Fifo>(capacity, records, with_ghosts);
}

}  // namespace weft::bench
