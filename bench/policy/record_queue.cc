#include "bench/policy/record_queue.h"

#include "base/check.h"

namespace weft::bench {

void RecordQueue::Push(uint32_t record, uint32_t bytes) {
  RecordNode& node = nodes_[record];
  WEFT_CHECK(node.queue == 0);
  node = {youngest_, kNone, bytes, number_, node.uses};
  if (youngest_ == kNone) {
    oldest_ = record;
  } else {
    nodes_[youngest_].younger = record;
  }
  youngest_ = record;
  bytes_ += bytes;
}

void RecordQueue::Remove(uint32_t record) {
  WEFT_CHECK(Has(record));
  RecordNode& node = nodes_[record];
  (node.older == kNone ? oldest_ : nodes_[node.older].younger) = node.younger;
  (node.younger == kNone ? youngest_ : nodes_[node.younger].older) = node.older;
  node.queue = 0;
  bytes_ -= node.bytes;
}

void RecordQueue::Refresh(uint32_t record) {
  if (record == youngest_) return;
  Remove(record);
  Push(record, nodes_[record].bytes);
}

void RecordQueue::Resize(uint32_t record, uint32_t bytes) {
  WEFT_CHECK(Has(record));
  bytes_ += bytes;
  bytes_ -= nodes_[record].bytes;
  nodes_[record].bytes = bytes;
}

}  // namespace weft::bench
