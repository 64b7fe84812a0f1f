#include "protocol/counters.h"

namespace weft::protocol {
namespace {

bool IsFailure(Outcome outcome) {
  return outcome == Outcome::kIoError || outcome == Outcome::kNoMemory;
}

void CountTouch(Outcome outcome, CommandCounters* counters) {
  counters->cmd_touch.Add(1);
  if (IsFailure(outcome)) return;  // neither hit nor miss
  (outcome == Outcome::kMiss ? counters->touch_misses : counters->touch_hits).Add(1);
}

void CountGet(Outcome outcome, CommandCounters* counters) {
  counters->cmd_get.Add(1);
  if (IsFailure(outcome)) return;
  (outcome == Outcome::kMiss ? counters->get_misses : counters->get_hits).Add(1);
}

// A get that gives a new time to live counts as a touch. A meta read does so only where there was
// something to touch; what it creates on a miss was there, so to say.
void CountRead(const Request& request, const cache::Reply& reply, CommandCounters* counters) {
  const bool is_miss = reply.outcome == Outcome::kMiss;
  const bool touches =
      request.command.update_expiry && !(is_miss && request.kind == RequestKind::kMetaRead);
  if (touches) {
    CountTouch(reply.outcome, counters);
  } else {
    CountGet(reply.outcome, counters);
  }
  if (reply.outcome == Outcome::kStored) counters->total_items.Add(1);
}

// What compares versions and replaces what is there counts as a cas.
bool IsCas(const cache::Command& command) {
  return command.compare_cas && (command.store_mode == cache::StoreMode::kSet ||
                                 command.store_mode == cache::StoreMode::kReplace);
}

void CountStore(const cache::Command& command, Outcome outcome, CommandCounters* counters) {
  if (outcome == Outcome::kNoMemory) return counters->store_no_memory.Add(1);
  counters->cmd_set.Add(1);
  if (outcome == Outcome::kStored) counters->total_items.Add(1);
  if (!IsCas(command)) return;
  switch (outcome) {
    case Outcome::kStored: return counters->cas_hits.Add(1);
    case Outcome::kExists: return counters->cas_badval.Add(1);
    case Outcome::kMiss: return counters->cas_misses.Add(1);
    default: return;
  }
}

// A wrong version is no hit; what is only marked stale was not deleted.
void CountDelete(const cache::Command& command, Outcome outcome, CommandCounters* counters) {
  if (IsFailure(outcome)) return;
  if (outcome == Outcome::kMiss || outcome == Outcome::kExists) {
    counters->delete_misses.Add(1);
  } else if (!command.invalidate) {
    counters->delete_hits.Add(1);
  }
}

void CountArithmetic(const cache::Command& command, const cache::Reply& reply,
                     CommandCounters* counters) {
  if (reply.outcome == Outcome::kNumber) {
    (command.decrement ? counters->decr_hits : counters->incr_hits).Add(1);
    if (reply.lengthened) counters->total_items.Add(1);
  } else if (reply.outcome == Outcome::kMiss) {
    (command.decrement ? counters->decr_misses : counters->incr_misses).Add(1);
  } else if (reply.outcome == Outcome::kStored) {
    counters->total_items.Add(1);
  }
}

}  // namespace

void CountAnyReply(const Request& request, const cache::Reply& reply, CommandCounters* counters) {
  const cache::Command& command = request.command;
  if (command.verb != cache::Verb::kStore) {  // whoever stores asks for nothing that has ended
    if (reply.miss == cache::Miss::kExpired) counters->get_expired.Add(1);
    if (reply.miss == cache::Miss::kFlushed) counters->get_flushed.Add(1);
  }
  if (request.kind == RequestKind::kMetaDebug) return counters->cmd_meta.Add(1);
  switch (command.verb) {
    case cache::Verb::kRead: return CountRead(request, reply, counters);
    case cache::Verb::kStore: return CountStore(command, reply.outcome, counters);
    case cache::Verb::kArithmetic: return CountArithmetic(command, reply, counters);
    case cache::Verb::kDelete: return CountDelete(command, reply.outcome, counters);
    case cache::Verb::kTouch: return CountTouch(reply.outcome, counters);
  }
}

void CountRefused(Refused refused, CommandCounters* counters) {
  switch (refused) {
    case Refused::kNone: return;
    case Refused::kTooLarge: return counters->store_too_large.Add(1);
    case Refused::kBadChunk: return counters->cmd_set.Add(1);
    case Refused::kMechanism: counters->auth_cmds.Add(1); return counters->auth_errors.Add(1);
  }
}

}  // namespace weft::protocol
