// server/watch_query.h: the events of one query about a key: what was found, stored, deleted.
//
// memcached looks a key up before whatever it does to it, and tells of each look. So a store has
// two lines. Weft looks once, and tells of the same.
//
// Threads   the batch's.
// Source    the lines of memcached 1.6.18 as observed (tests/integration/watch_test.py).
#pragma once

#include "cache/session.h"
#include "pipeline/batch.h"
#include "protocol/request.h"
#include "server/watch_event.h"
#include "server/watch_hub.h"

namespace weft::server {

// What a key held.
struct WatchedItem {
  WatchStatus status = WatchStatus::kNotFound;
  uint64_t bytes = 0;  // of the value
};

// What the key of query `i` held before it. REQUIRES: done by the one-stage plan, within the epoch
WatchedItem ItemBefore(const pipeline::Batch& batch, uint32_t i, const cache::Reply& reply,
                       const cache::Session& session);

// Which word a store goes by. What compares versions is a cas, unless it lengthens an item.
WatchCommand WatchCommandOf(cache::StoreMode mode, bool compares);

// Seconds until `expiry` as lines of stores have them: 0 means never, -1 at once.
int64_t WatchedTtl(cache::Expiry expiry, uint32_t now_s);

// Notes the events of query `i` of `batch`, which was asked for on the connection `fd`.
// REQUIRES: as ItemBefore
void NoteQuery(WatchPost& post, const protocol::Request& request, int fd,
               const pipeline::Batch& batch, uint32_t i, const cache::Reply& reply,
               const cache::Session& session);

// The same of a store that was refused as too large. `before`: of its key, which it dropped.
void NoteTooLarge(WatchPost& post, const protocol::Request& request, int fd, std::string_view key,
                  const WatchedItem& before, uint32_t now_s);

}  // namespace weft::server
