// bench/policy/belady.h: Belady's: the object goes whose next get is farthest.
//
// It knows what comes, so that it shows what is out of reach for any other.
//
// Next get  is computed for each request beforehand. Where a set or a delete of the record comes
//           first, there is none: what is held until then serves nobody.
// Not kept  an object without a next get, and one whose next get lies beyond those of all others
//           that are held while there is no room for it.
// Floor     no policy misses less where all objects are of one size and none has a time to live,
//           which it does not look at. With several sizes it is none: it drops many small objects
//           for a large one that comes a little earlier.
// Requests  all of the trace are played in turn: a get that misses is filled by a set of the same
//           number, or by nobody.
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
