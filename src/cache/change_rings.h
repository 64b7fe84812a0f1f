// cache/change_rings.h: the rings in which sessions announce what they change in the index
// (task/change_ring.h), for the one who follows (processor/mirror/mirror.h).
//
// Life      a ring belongs to a place in the second epochs (cache/session.h). It is made for the
//           first session there that begins while somebody keeps marks, and goes with the store:
//           who follows may look at it at any time, and the next session in that place goes on
//           where the last one stopped. 128 KiB each, touched as they are used.
// Threads   Of: the owner of the place. Read: one caller at a time, beside all else.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "cache/epoch.h"
#include "cache/pages.h"
#include "task/change_ring.h"

namespace weft::cache {

class ChangeRings {
 public:
  // The ring of a place (Epochs::NumberOf), which is the caller's. Null: no memory for it now.
  task::ChangeRing* Of(uint32_t place);

  // Adds the buckets, those below `bucket_count`, that were announced and are not known to have
  // been looked at since they changed: the caller looks at each of them once more after this has
  // returned, and what is done by now comes not again. The promise: after those looks the caller
  // has seen every change that anybody had seen, and told the caller of, before this began.
  //
  // Why: such a change was announced before it was made, so its number lies before the `head` that
  // is read here. If it lies behind `tail`, it is among those added. If not, an earlier call set
  // `tail` beyond it, to a `done` that the owner had set after the change: the looks after that
  // call saw the change.
  // Two looks at one bucket may come in any order, or their words be mixed, where both come after
  // this has returned: a change between them was not done when its ring was read, so it comes
  // again.
  void Read(uint64_t bucket_count, std::vector<uint64_t>* buckets);

 private:
  struct Place {
    std::atomic<task::ChangeRing*> ring{nullptr};  // set once
    Pages memory;                                  // the owner's, until `ring` is set
  };

  std::atomic<uint32_t> used_{0};  // places [0, used_) may have a ring
  std::array<Place, Epochs::kSlotsMax> places_;
};

}  // namespace weft::cache
