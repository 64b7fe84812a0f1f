// cache/full_pair.h: what can be done where both buckets of a key are full, before an entry that is
// still wanted goes, or the store is refused.
//
// Without it the entries of such a pair would keep others out for as long as their segments last,
// even when all of them had ended.
//
// Threads   the session's. REQUIRES: the session is inside.
// Cost      two lines, and an object's first line for each entry: seldom called.
#pragma once

#include <cstdint>

#include "cache/session.h"

namespace weft::cache {

// Drops those entries of the two buckets in which a new entry of `hash` would stand whose objects
// have ended. True: there were some.
bool DropEnded(Session& session, uint64_t hash);

}  // namespace weft::cache
