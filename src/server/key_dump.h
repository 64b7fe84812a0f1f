// server/key_dump.h: the lists of all keys, in memcached's words: `lru_crawler metadump` and
// `mgdump`, and `stats cachedump`.
//
// Threads   a worker's.
// Source    memcached's document of the protocol, "Metadump" and "mgdump"; 1.6.18 as observed.
#pragma once

#include <cstddef>
#include <string>

#include "cache/walk.h"
#include "protocol/request.h"

namespace weft::server {

class KeyDump {
 public:
  // What one step may write: a line for each object that it sees, whose key is all escapes.
  static constexpr size_t kLineBytesMax = 3 * kKeyBytesMax + 160;
  static constexpr size_t kStepBytesMax = cache::Walk::kObjectsMax * kLineBytesMax;

  explicit KeyDump(protocol::DumpForm form) : form_(form) {}

  // The next lines, and at last the end; the new end of `out`, which has kStepBytesMax.
  // REQUIRES: the session is inside
  char* WriteStep(const cache::Session& session, char* out);
  // The end has been written.
  bool is_over() const { return over_; }

 private:
  const protocol::DumpForm form_;
  cache::Walk walk_;
  bool over_ = false;
};

// `stats cachedump`: up to `limit` keys (0: all) in 2 MiB, of some 100,000 that are looked at. Keys
// that a line of text cannot hold are left out. REQUIRES: the session is inside
std::string CachedumpText(const cache::Session& session, uint32_t limit);

// `stats sizes`: how many items there are of each size, in steps of 32 bytes; of a sample, where
// there are many. `items`: that there are. REQUIRES: the session is inside
std::string SizesText(const cache::Session& session, uint64_t items);

}  // namespace weft::server
