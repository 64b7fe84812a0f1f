// cache/multi.h: many lookups or stores at once for the embedded API, their memory waits
// overlapped.
//
// The same tasks over the same columns as the server's batches (pipeline/cpu_stage.h), on arrays of
// one group on the stack.
//
// Threads   the session's. REQUIRES: `session` is outside; each group enters and leaves the epoch.
#pragma once

#include <span>

#include "cache/session.h"
#include "weft/cache.h"

namespace weft::cache {

inline constexpr uint32_t kGroupQueries = 32;  // docs/design/0001-batches-and-prefetch.md says why

void MultiRead(Session& session, std::span<Cache::Lookup> lookups);
void MultiView(Session& session, std::span<Cache::View> views, const Cache::ViewUse& use);
void MultiStore(Session& session, std::span<Cache::Pair> pairs);

}  // namespace weft::cache
