// delete, md.
#include "cache/entry.h"

namespace weft::cache {
namespace {

// md I, md x: the object stays, marked stale or without its value.
ObjectSpec Faded(const Command& command, const Entry& entry) {
  ObjectSpec spec = SpecOf(entry.object);
  spec.has_cas = command.explicit_cas;
  spec.cas = command.cas_new;
  spec.access &= ~uint32_t{kAccessCasSeen};
  if (command.invalidate) {
    spec.access = (spec.access | kAccessStale) & ~uint32_t{kAccessWinSent};
    if (command.update_expiry) spec.expiry = command.expiry;
  }
  if (command.drop_value) {
    spec.head = {};
    spec.client_flags = 0;
  }
  return spec;
}

Reply Removed() {
  Reply reply = Plain(Outcome::kDeleted);
  reply.removed = true;
  return reply;
}

bool IsPlainDelete(const Command& command) {
  return command.verb == Verb::kDelete && !command.compare_cas && !command.invalidate &&
         !command.drop_value;
}

}  // namespace

uint64_t Store::PlaceGrave(Session& session, const Command& command) {
  if (!IsPlainDelete(command)) return 0;
  const ObjectSpec spec;  // no key, no value: a header alone
  const uint64_t location = log_->Append(session.lane(), Generation::kYoung, log_->GroupOf(0),
                                         SpecBytes(spec), spec.expiry);
  if (location != 0) WriteObject(session.ObjectAt(location), spec);
  return location;
}

Reply DeleteEntry(Session& session, const Command& command, Hint* hint) {
  for (;;) {  // Ends: each round more means that another thread changed the key.
    const Entry entry = Locate(session, command, hint);
    if (MustAskBelow(entry, *hint)) return Below();
    if (!entry.present) return Missed(entry);
    if (command.compare_cas && task::CasOf(session.log(), entry.location()) != command.cas_expected)
      return Plain(Outcome::kExists);
    if (!command.invalidate && !command.drop_value) {
      if (!Remove(session, entry)) continue;
      return Removed();
    }
    ObjectSpec spec = Faded(command, entry);
    const uint64_t location = AppendVersion(session, &spec, entry, command.hash, Room::kReplacing);
    if (location == 0) return NeedsRoom(SpecBytes(spec), Room::kReplacing, entry.location());
    if (Publish(session, command, entry, location) == Published::kDone)
      return Changed(Outcome::kDeleted, location);
    session.store().Abandon(session, location);
  }
}

}  // namespace weft::cache
