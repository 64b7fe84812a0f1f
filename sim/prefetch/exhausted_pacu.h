// sim/prefetch/exhausted_pacu.h: all valid entries of the bucket, in their order, up to a number.
//
// Threads   one owner.
// Source    paper 004, section 3.3, "naive exhausted".
#pragma once

#include <vector>

#include "sim/prefetch/pacu.h"

namespace weft::sim {

class ExhaustedPacu final : public Pacu {
 public:
  explicit ExhaustedPacu(int objects_max) : objects_max_(objects_max) {}

  void OnBucket(const BucketRead& read, std::vector<Choice>* choices) override {
    Choice choice = Choice::Nothing(read, read.at);
    for (int slot = 0; slot < read.slots_count && choice.count < objects_max_; ++slot) {
      choice.AddSlot(read, slot);
    }
    choices->push_back(choice);
  }

 private:
  const int objects_max_;
};

}  // namespace weft::sim
