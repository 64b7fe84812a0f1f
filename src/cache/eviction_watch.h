// cache/eviction_watch.h: somebody who wants to be told of each live object that is evicted.
//
// Threads   that of the session which evicts. Note is called within its epoch, and perhaps under a
//           lock of the index: it must not wait.
// Cost      nothing where a session has no watch; one test an evicted object where it has.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::cache {

class Session;

struct Evicted {
  std::string_view key;
  uint32_t value_bytes = 0;
  bool was_read = false;
  int64_t ttl_s = -1;   // seconds that were left to it; -1: it would never have ended
  uint32_t idle_s = 0;  // since it was last read or written
};

class EvictionWatch {
 public:
  virtual ~EvictionWatch() = default;
  // Whether Note is wanted now.
  virtual bool WatchesEvictions() const = 0;
  virtual void Note(const Evicted& evicted) = 0;
};

// Tells the session's watch, if there is one, of the object at `location`, which was just taken out
// of the index. REQUIRES: within the epoch in which that was done
void TellEviction(const Session& session, uint64_t location);

}  // namespace weft::cache
