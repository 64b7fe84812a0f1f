// pipeline/reply_of.h: what the store answers to a query of a batch, whatever its kind and whoever
// has carried it out.
//
// Threads   the batch's.
#pragma once

#include "cache/object_writer.h"
#include "cache/session.h"
#include "pipeline/batch.h"
#include "task/log.h"

namespace weft::pipeline {

// What a plain read has found.
struct Found {
  bool is_hit;
  cache::Miss miss;  // why there is nothing, where it is none
  uint32_t client_flags;
  std::string_view value;
};

// REQUIRES: kind kRead, otherwise as ReplyOf
inline Found FoundByRead(const Batch& batch, uint32_t i, const cache::Session& session) {
  if (batch.result(i) == kResultRead) {
    const Batch::Gathered gathered = batch.gathered(i);
    return {true, {}, gathered.client_flags, gathered.value};
  }
  const uint64_t location = batch.location(i);
  if (location == 0) return {false, batch.miss(i), 0, {}};
  const task::Object* object = session.ObjectAt(location);
  task::TouchObject(object);
  return {true, {}, task::ClientFlags(object), cache::ValueView(object)};
}

// The version of what a plain read has found. REQUIRES: as FoundByRead, which has found it, and a
// source of Batch::ShowVersionsTo
inline uint64_t VersionFound(const Batch& batch, uint32_t i, const cache::Session& session) {
  return task::CasOf(session.log(), batch.location(i));
}

// The reply to a plain read. It is made where the caller wants it: a copy would wait for the stores
// before it (docs/design/0016). REQUIRES: as FoundByRead
inline cache::Reply ReplyOfRead(const Batch& batch, uint32_t i, const cache::Session& session) {
  const Found found = FoundByRead(batch, i, session);
  cache::Reply reply;
  reply.outcome = found.is_hit ? Outcome::kHit : Outcome::kMiss;
  reply.miss = found.miss;
  reply.client_flags = found.client_flags;
  reply.value = found.value;
  return reply;
}

// REQUIRES: kind kRead or kCommand, state kDone, within the epoch. Its value stays as long as the
// epoch and the batch do.
inline cache::Reply ReplyOf(const Batch& batch, uint32_t i, const cache::Session& session) {
  if (batch.kind(i) == QueryKind::kCommand) return batch.reply(i);
  return ReplyOfRead(batch, i, session);
}

}  // namespace weft::pipeline
