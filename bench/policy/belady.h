// bench/policy/belady.h: Belady's policy: the object whose next get is farthest goes.
//
// It knows the future, so it shows what is out of reach for every other policy.
//
// Next get  is computed for each request beforehand. If a set or a delete of the record comes
//           first, there is none: to hold the object until then serves nobody.
// Not kept  an object without a next get; and, while there is no room for it, one whose next get
//           lies beyond those of all objects held.
// Floor     no policy misses less if all objects are of one size and none has a time to live, which
//           it ignores. With several sizes it is no floor: it drops many small objects for a large
//           one that comes a little earlier.
// Requests  all of the trace must be played in turn: a get that misses is filled by a set of the
//           same number, or not at all.
// Threads   one at a time.
// Cost      a logarithm of the objects held, an operation, of a set with what it drops; 4 bytes a
//           request, 8 bytes a record and 8 bytes an object.
// Source    L. A. Belady, A study of replacement algorithms for a virtual-storage computer, IBM
//           Systems Journal 5 (1966). We add that an object need not be stored at all.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/policy/policy.h"

namespace weft::bench {

// REQUIRES: less than 2^32 - 1 requests
std::unique_ptr<Policy> MakeBelady(uint64_t capacity, const Trace& trace);

}  // namespace weft::bench
