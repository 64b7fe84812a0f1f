// get, gets, gat, gats, mg, me: reads, and what some of them change.
#include "cache/entry.h"

namespace weft::cache {
namespace {

// A miss that makes an empty object, whose maker is to fill it (mg N).
Reply Vivify(Session& session, const Command& command, const Entry& entry, Published* published) {
  ObjectSpec spec;
  spec.key = command.key;
  const bool touched = command.update_expiry && !command.vivify_last;
  spec.expiry = touched ? command.expiry : command.vivify_expiry;
  spec.has_cas = command.explicit_cas;
  spec.cas = command.cas_new;
  spec.access = kAccessWinSent | (command.quiet_access ? 0 : kAccessFetched) |
                (command.binary_key ? kAccessBinary : 0) | (command.want_cas ? kAccessCasSeen : 0);
  const uint64_t location = AppendVersion(session, &spec, entry, command.hash);
  *published = Published::kFull;
  if (location == 0) return NeedsRoom(SpecBytes(spec));
  *published = Publish(session, command, entry, location);
  if (*published != Published::kDone) {
    session.store().Abandon(session, location);
    return NeedsRoom(SpecBytes(spec));
  }
  Reply reply = Plain(Outcome::kStored);
  reply.published = location;
  reply.miss = entry.miss;
  Describe(session, location, &reply);
  if (command.update_expiry)
    reply.ttl_before_s = SecondsLeft(session, touched ? command.vivify_expiry : command.expiry);
  reply.won = true;
  return reply;
}

void NoteHit(Session& session, const Command& command, const task::Found& found,
             uint64_t location) {
  if (command.quiet_access) return;
  task::Object* const object = session.ObjectAt(location);
  const uint32_t dice = session.NextDice();
  if (Session::CountsHit(dice)) session.CountHit(location);
  const uint64_t word = task::LoadAcquire64(found.slot);
  if (task::WantsAccessNote(word, dice)) task::NoteAccess(found.slot, word);
  const uint32_t access = task::LoadRelaxed32(&object->access);
  if (command.want_access || task::WantsReadNote(access, session.now_s()))
    task::NoteRead(object, session.now_s());
}

// What the reply tells of the object as it was before this read, and of what the read decided.
struct Before {
  uint32_t expiry;
  uint32_t access;
  bool won;
};

// Notes the access and answers it. `location`: of the version that stands now.
Reply Hit(Session& session, const Command& command, const Entry& entry, uint64_t location,
          const Before& before) {
  Reply reply = Plain(Outcome::kHit);
  if (location != entry.location()) reply.published = location;
  Describe(session, location, &reply);
  reply.ttl_before_s = SecondsLeft(session, before.expiry);
  reply.stale = (before.access & kAccessStale) != 0;
  reply.won = before.won;
  reply.win_taken = (before.access & kAccessWinSent) != 0;
  reply.hit_before = (before.access & kAccessFetched) != 0;
  reply.last_access_s = task::SecondsSinceAccess(before.access, session.now_s());
  NoteHit(session, command, entry.found, location);
  return reply;
}

}  // namespace

bool ShowVersion(Session& session, const uint64_t* slot, uint64_t word) {
  const uint64_t location = task::SlotLocation(word);
  task::Object* const object = session.ObjectAt(location);
  // Set before the slot is looked at again: a mover marks the slot before it reads the bit
  // (cache/emptying.cc), so either it sees the bit or we see its mark.
  const bool is_first = (task::LoadAcquire32(&object->access) & kAccessCasSeen) == 0;
  if (is_first) task::FetchOr32(&object->access, kAccessCasSeen);
  // Whoever finds the key deleted then knows that some version was shown (ShownMark).
  const bool is_news = session.store().log().NoteShown(task::CasOf(session.log(), location));
  // Where the bit was seen, a mover that did not see it had marked the slot before it was set: on
  // x86-64 and ARMv8 all processors see two stores of two others in one order.
  if (is_first || is_news) task::FullFence();
  return task::SameEntry(task::LoadAcquire64(slot), word);
}

bool WinsRefresh(const Session& session, const Command& command, uint32_t expiry, uint32_t access) {
  if ((access & kAccessWinSent) != 0 || !command.hand_out_win) return false;
  if ((access & kAccessStale) != 0) return true;
  return command.recache && expiry != kNeverExpires &&
         static_cast<int64_t>(expiry) - session.now_s() < command.recache_s;
}

Reply ReadEntry(Session& session, const Command& command, Hint* hint) {
  for (;;) {  // Ends: each round more means that another thread changed the key.
    const Entry entry = Locate(session, command, hint);
    if (MustAskBelow(entry, *hint)) return Below();
    if (!entry.present) {
      if (!command.vivify) return Missed(entry);
      Published published;
      const Reply reply = Vivify(session, command, entry, &published);
      if (published == Published::kLost) continue;
      return reply;
    }
    const uint32_t access = task::LoadRelaxed32(&entry.object->access);
    const uint32_t expiry = task::ExpiryOf(entry.object);
    const bool won = WinsRefresh(session, command, ExpiryToRefreshBy(command, expiry), access);
    uint64_t location = entry.location();
    if (won || command.update_expiry) {
      ObjectSpec spec = CopyOf(session, entry, command.want_cas);
      if (won) spec.access |= kAccessWinSent;
      if (command.update_expiry) spec.expiry = command.expiry;
      location = AppendVersion(session, &spec, entry, command.hash, Room::kReplacing);
      if (location == 0) return NeedsRoom(SpecBytes(spec), Room::kReplacing, entry.location());
      if (command.want_cas) session.store().log().NoteShown(task::CasOf(session.log(), location));
      if (PublishCopy(session, entry, location) != Published::kDone) {
        session.store().Abandon(session, location);
        continue;
      }
    } else if (command.want_cas && !ShowVersion(session, entry.found.slot, entry.found.word)) {
      continue;
    }
    return Hit(session, command, entry, location, {expiry, access, won});
  }
}

}  // namespace weft::cache
