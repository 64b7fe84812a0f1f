// sim/prefetch/key_matcher.h: brings together a core's kKey and its bucket's read, whichever comes
// first. The other waits: buckets in a small buffer, keys in a larger one.
//
// A full buffer gives up its oldest entry, because the newcomer is likelier to be wanted. A bucket
// that a core reads for something other than a lookup never gets a key. A key whose bucket is in
// the cache never gets a bucket.
//
// Threads   one owner.
// Cost      a look at all that waits, for each bucket and key.
// Source    the simulator's specification, section 1.3; what is given up is ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "sim/prefetch/pacu.h"

namespace weft::sim {

struct BucketKey {
  uint64_t bucket = 0;
  int core = 0;
  uint16_t tag = 0;
  uint8_t slot = kNoSlot;  // where the key really is
  uint64_t ordinal = 0;    // of the core's keys at this controller, from 0
};

class KeyMatcher {
 public:
  static constexpr size_t kKeysMax = 64;

  // REQUIRES: buckets_max > 0
  KeyMatcher(int buckets_max, UnitCounts* counts)
      : buckets_max_(static_cast<size_t>(buckets_max)), counts_(counts) {}

  struct Kept {
    std::optional<BucketKey> key;         // the bucket's: both are matched; none: the bucket waits
    std::optional<BucketRead> displaced;  // waits no longer: it made room for the bucket
  };
  Kept OnBucket(const BucketRead& read);
  // The key's bucket, if it waited; otherwise the key waits.
  std::optional<BucketRead> OnKey(const BucketKey& key);

 private:
  const size_t buckets_max_;
  UnitCounts* const counts_;
  // Oldest first; at most one a core and bucket.
  std::deque<BucketRead> buckets_;
  std::deque<BucketKey> keys_;
};

}  // namespace weft::sim
