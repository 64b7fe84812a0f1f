#include "protocol/counters.h"

namespace weft::protocol {
namespace {

void CountRead(const cache::Command& command, const cache::Reply& reply,
               CommandCounters* counters) {
  counters->cmd_get.Add(1);
  if (command.update_expiry) counters->cmd_touch.Add(1);
  if (reply.outcome == Outcome::kHit) {
    counters->get_hits.Add(1);
    if (command.update_expiry) counters->touch_hits.Add(1);
    return;
  }
  if (reply.outcome != Outcome::kMiss && reply.outcome != Outcome::kStored)
    return;  // it failed: neither hit nor miss
  counters->get_misses.Add(1);
  if (command.update_expiry) counters->touch_misses.Add(1);
  if (reply.miss == cache::Miss::kExpired) counters->get_expired.Add(1);
  if (reply.miss == cache::Miss::kFlushed) counters->get_flushed.Add(1);
}

void CountStore(const cache::Command& command, const cache::Reply& reply,
                CommandCounters* counters) {
  counters->cmd_set.Add(1);
  switch (reply.outcome) {
    case Outcome::kStored:
      counters->total_items.Add(1);
      if (command.compare_cas) counters->cas_hits.Add(1);
      break;
    case Outcome::kExists: counters->cas_badval.Add(1); break;
    case Outcome::kMiss: counters->cas_misses.Add(1); break;
    case Outcome::kTooLarge: counters->store_too_large.Add(1); break;
    case Outcome::kNoMemory: counters->store_no_memory.Add(1); break;
    default: break;
  }
}

void CountArithmetic(const cache::Command& command, const cache::Reply& reply,
                     CommandCounters* counters) {
  if (reply.outcome == Outcome::kNumber) {
    (command.decrement ? counters->decr_hits : counters->incr_hits).Add(1);
  } else if (reply.outcome == Outcome::kMiss || reply.outcome == Outcome::kStored) {
    (command.decrement ? counters->decr_misses : counters->incr_misses).Add(1);
  }
}

}  // namespace

void CountReply(const cache::Command& command, const cache::Reply& reply,
                CommandCounters* counters) {
  switch (command.verb) {
    case cache::Verb::kRead: return CountRead(command, reply, counters);
    case cache::Verb::kStore: return CountStore(command, reply, counters);
    case cache::Verb::kArithmetic: return CountArithmetic(command, reply, counters);
    case cache::Verb::kDelete:
      if (reply.outcome == Outcome::kIoError || reply.outcome == Outcome::kNoMemory) return;
      (reply.outcome == Outcome::kMiss ? counters->delete_misses : counters->delete_hits).Add(1);
      return;
    case cache::Verb::kTouch:
      counters->cmd_touch.Add(1);
      if (reply.outcome == Outcome::kIoError || reply.outcome == Outcome::kNoMemory) return;
      (reply.outcome == Outcome::kMiss ? counters->touch_misses : counters->touch_hits).Add(1);
      return;
  }
}

}  // namespace weft::protocol
