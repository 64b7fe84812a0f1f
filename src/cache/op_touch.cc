// touch: a new time to live; the version stays.
#include "cache/entry.h"

namespace weft::cache {

Reply TouchEntry(Session& session, const Command& command, Hint* hint) {
  for (;;) {  // Ends: each round more means that another thread changed the key.
    const Entry entry = Locate(session, command, hint);
    if (MustAskBelow(entry, *hint)) return Below();
    if (!entry.present) return Missed(entry);
    ObjectSpec spec = CopyOf(session, entry, command.want_cas);
    spec.expiry = command.expiry;
    const uint64_t location = AppendVersion(session, &spec, entry, command.hash, Room::kReplacing);
    if (location == 0) return NeedsRoom(SpecBytes(spec), Room::kReplacing, entry.location());
    if (command.want_cas) session.store().log().NoteShown(task::CasOf(session.log(), location));
    if (PublishCopy(session, entry, location) == Published::kDone) {
      task::NoteAccess(entry.found.slot, task::LoadAcquire64(entry.found.slot));
      task::NoteRead(session.ObjectAt(location), session.now_s());
      Reply reply = Changed(Outcome::kTouched, location);
      if (command.want_cas) Describe(session, location, &reply);
      return reply;
    }
    session.store().Abandon(session, location);
  }
}

}  // namespace weft::cache
