// cache/full_pair.h: frees a place where both buckets of a key are full, before an entry that is
// still wanted goes, or the store is refused.
//
// Without it, the entries of such a pair would keep others out for as long as their segments last.
// That would be so even if all of them had ended.
//
// Threads   the session's. REQUIRES: the session is inside.
// Cost      two lines, and each entry's first line of its object: seldom called.
#pragma once

#include <cstdint>

#include "cache/session.h"

namespace weft::cache {

// Drops the entries whose objects have ended from the two buckets that a new entry of `hash` could
// enter. True: there were some.
bool DropEnded(Session& session, uint64_t hash);

}  // namespace weft::cache
