// sim/prefetch/hit_table_pacu.h: predicts that a bucket is hit where it was hit last.
//
// The table is in a memory buffer between controller and memory, and is read while the bucket is:
// its latency shows only as far as it exceeds the shortest read of the memory. Software's kHit
// updates it at the end of a lookup, unless the lookup found nothing in the bucket itself.
//
// Threads   one owner; units that share a table have the same.
// Source    paper 004, section 3.3; the simulator's specification, section 1.3.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/prefetch/hit_table.h"
#include "sim/prefetch/pacu.h"

namespace weft::sim {

class HitTablePacu final : public Pacu {
 public:
  HitTablePacu(std::shared_ptr<HitTable> table, Time latency, Time shortest_read,
               UnitCounts* counts)
      : table_(std::move(table)),
        visible_latency_(std::max<Time>(0, latency - shortest_read)),
        counts_(counts) {}

  void OnBucket(const BucketRead& read, std::vector<Choice>* choices) override {
    Choice choice = Choice::Nothing(read, read.at + visible_latency_);
    choice.AddSlot(read, table_->Predict(read.bucket));
    choices->push_back(choice);
  }
  void OnHit(const Record& record) override {
    if (record.slot == kNoSlot) return;
    ++counts_->hits;
    if (table_->Predict(record.aux) == record.slot) ++counts_->hits_predicted;
    table_->Learn(record.aux, record.slot);
  }

 private:
  const std::shared_ptr<HitTable> table_;
  const Time visible_latency_;
  UnitCounts* const counts_;
};

}  // namespace weft::sim
