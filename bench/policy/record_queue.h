// bench/policy/record_queue.h: queues of records, threaded through one array that they share.
//
// Layout    a node a record, by its number: its neighbours, its bytes, the queue that it is in and
//           what the policy counts of it. A record is in one of the queues that share it, or none.
// Memory    16 bytes a record, whatever is held.
// Threads   one at a time.
// Cost      constant time each.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::bench {

struct RecordNode {
  uint32_t older = 0;
  uint32_t younger = 0;
  uint32_t bytes = 0;  // stays when it leaves a queue
  uint8_t queue = 0;   // its number; 0: none
  uint8_t uses = 0;    // for the policy; queues leave it alone
};

class RecordQueue {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;  // no record

  // REQUIRES: `nodes` outlives it and never grows; no other queue over it has the number, nor 0
  RecordQueue(std::vector<RecordNode>& nodes, uint8_t number) : nodes_(nodes), number_(number) {}
  RecordQueue(const RecordQueue&) = delete;
  RecordQueue& operator=(const RecordQueue&) = delete;

  bool Has(uint32_t record) const { return nodes_[record].queue == number_; }
  // Puts it at the young end.
  // REQUIRES: it is in no queue
  void Push(uint32_t record, uint32_t bytes);
  // REQUIRES (all of these): Has(record)
  void Remove(uint32_t record);
  void Refresh(uint32_t record);  // back to the young end
  void Resize(uint32_t record, uint32_t bytes);
  // The next one towards the young end, or kNone.
  uint32_t YoungerThan(uint32_t record) const { return nodes_[record].younger; }

  // kNone if it is empty.
  uint32_t oldest() const { return oldest_; }
  // The oldest that is not `kept`, or kNone. `kept` may be in another queue, or in none.
  uint32_t OldestBut(uint32_t kept) const {
    return oldest_ == kept && kept != kNone ? YoungerThan(kept) : oldest_;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  std::vector<RecordNode>& nodes_;
  const uint8_t number_;
  uint32_t oldest_ = kNone;
  uint32_t youngest_ = kNone;
  uint64_t bytes_ = 0;
};

}  // namespace weft::bench
