// compaction/device/piece/grandparent_walk.h: the grandparents' rule (compaction/output_cut.h),
// told by where grandparents end among the merged keys instead of key by key.
//
// Threads   one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "compaction/job.h"

namespace weft::compaction::device {

class GrandparentWalk {
 public:
  // The job must outlive this.
  explicit GrandparentWalk(const Job& job) : job_(job) {}

  // place_behind[g]: the first place of the next piece whose key is above grandparent g's largest;
  // `places` where none is. Returns the places before which an output ends, ascending.
  std::vector<uint32_t> CutsOfPiece(const std::vector<uint32_t>& place_behind, uint32_t places) {
    std::vector<uint32_t> cuts;
    while (next_ < place_behind.size() && place_behind[next_] < places) {
      const uint32_t place = place_behind[next_];
      const bool key_seen = key_seen_ || place != 0;
      for (; next_ < place_behind.size() && place_behind[next_] == place; next_++) {
        if (key_seen) overlapped_bytes_ += job_.grandparents[next_].bytes;
      }
      if (overlapped_bytes_ <= job_.grandparent_overlap_bytes_max) continue;
      overlapped_bytes_ = 0;
      cuts.push_back(place);
    }
    key_seen_ = key_seen_ || places != 0;
    return cuts;
  }

 private:
  const Job& job_;
  size_t next_ = 0;  // the first grandparent that does not end before the last key
  bool key_seen_ = false;
  uint64_t overlapped_bytes_ = 0;
};

}  // namespace weft::compaction::device
