// pipeline/reply_of.h: what the store answers to a query of a batch, whatever its kind and whoever
// has carried it out.
//
// Threads   the batch's.
#pragma once

#include "cache/object_writer.h"
#include "cache/session.h"
#include "pipeline/batch.h"

namespace weft::pipeline {

// The reply to a plain read. It is made where the caller wants it: a copy would wait for the stores
// before it (docs/design/0016). REQUIRES: kind kRead, otherwise as ReplyOf
inline cache::Reply ReplyOfRead(const Batch& batch, uint32_t i, const cache::Session& session) {
  cache::Reply reply;
  if (batch.result(i) == kResultRead) {
    const Batch::Gathered gathered = batch.gathered(i);
    reply.outcome = Outcome::kHit;
    reply.client_flags = gathered.client_flags;
    reply.value = gathered.value;
    return reply;
  }
  const uint64_t location = batch.location(i);
  if (location == 0) {
    reply.miss = batch.miss(i);
    return reply;
  }
  reply.outcome = Outcome::kHit;
  const task::Object* object = session.ObjectAt(location);
  task::TouchObject(object);
  reply.client_flags = task::ClientFlags(object);
  reply.value = cache::ValueView(object);
  return reply;
}

// REQUIRES: kind kRead or kCommand, state kDone, within the epoch. Its value stays as long as the
// epoch and the batch do.
inline cache::Reply ReplyOf(const Batch& batch, uint32_t i, const cache::Session& session) {
  if (batch.kind(i) == QueryKind::kCommand) return batch.reply(i);
  return ReplyOfRead(batch, i, session);
}

}  // namespace weft::pipeline
