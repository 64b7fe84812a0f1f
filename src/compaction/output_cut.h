// compaction/output_cut.h: where an output must end so that it overlaps little of the level below.
//
// Otherwise the later compaction of that one output would have to read too much.
//
// Threads   one thread at a time.
// Source    LevelDB's rule: bytes are counted over all keys that come in, dropped ones too.
//           Counting starts at the first key; cuts for an output's size do not restart it.
#pragma once

#include <cstdint>
#include <string_view>

#include "compaction/job.h"
#include "table/key_order.h"

namespace weft::compaction {

class OutputCut {
 public:
  // The job must outlive this.
  explicit OutputCut(const Job& job) : job_(job), order_(job.comparator) {}

  // Whether an open output ends before this key. Ask for every entry, in order.
  bool IsBefore(std::string_view internal_key) {
    if (next_ < job_.grandparents.size()) Pass(internal_key);
    key_seen_ = true;
    if (overlapped_bytes_ <= job_.grandparent_overlap_bytes_max) return false;
    overlapped_bytes_ = 0;
    return true;
  }

 private:
  void Pass(std::string_view internal_key) {
    while (next_ < job_.grandparents.size() &&
           order_.Compare(internal_key, job_.grandparents[next_].largest) > 0) {
      if (key_seen_) overlapped_bytes_ += job_.grandparents[next_].bytes;
      next_++;
    }
  }

  const Job& job_;
  const table::KeyOrder order_;
  size_t next_ = 0;  // the first grandparent that does not end before the last key
  bool key_seen_ = false;
  uint64_t overlapped_bytes_ = 0;
};

}  // namespace weft::compaction
