// cache/walk.h: goes through all objects of a store, a few buckets at a time, while others change
// it.
//
// Between two steps it holds nothing: no epoch, and no memory that others wait for. Its place is a
// share of the table, which stays true when the table grows.
//
// What it sees  Each object that is there from the first step to the last and does not move in the
//               index is seen once. An insert may move another entry to its other bucket, and
//               growth moves all: such an object may be seen twice or not at all. So is it with
//               memcached's crawler, whose lists move beneath it.
// Threads       one at a time.
// Cost          some 0.1 us an object, whose line it waits for with others.
#pragma once

#include <cstdint>

#include "cache/session.h"

namespace weft::cache {

class Walk {
 public:
  static constexpr uint32_t kObjectsMax = 64;  // that one step can see

  // What a step shows. Good until the session leaves its epoch.
  struct Seen {
    uint64_t location = 0;
    const task::Object* object = nullptr;
  };
  struct Step {
    Seen seen[kObjectsMax];
    uint32_t count = 0;
    uint32_t looked = 0;  // at so many objects, with those that have ended
  };

  // The next buckets; false: there are none. Objects that have ended are left out, so a step may
  // show nothing. REQUIRES: the session is inside
  bool Next(const Session& session, Step* step);
  bool is_over() const { return over_; }

 private:
  uint64_t at_ = 0;  // of 2^64, which is the whole table
  bool over_ = false;
};

}  // namespace weft::cache
