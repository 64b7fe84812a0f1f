// set, add, replace, append, prepend, cas, ms.
#include <utility>

#include "cache/entry.h"

namespace weft::cache {
namespace {

// Version 0 is nobody's: a set or replace compares with it, and fails; append and prepend take it
// as "any".
bool ComparesCas(const Command& command) {
  return command.compare_cas && (command.cas_expected != 0 || !IsConcatenation(command));
}

Verdict JudgeAbsent(const Command& command) {
  switch (command.store_mode) {
    case StoreMode::kSet: return ComparesCas(command) ? Verdict::kMiss : Verdict::kStore;
    case StoreMode::kAdd: return Verdict::kStore;
    case StoreMode::kReplace: return ComparesCas(command) ? Verdict::kMiss : Verdict::kNotStored;
    case StoreMode::kAppend:
    case StoreMode::kPrepend: return command.vivify ? Verdict::kStore : Verdict::kNotStored;
  }
  return Verdict::kNotStored;
}

ObjectSpec SpecOfCommand(const Command& command) {
  ObjectSpec spec;
  spec.key = command.key;
  spec.head = command.value;
  spec.client_flags = command.client_flags;
  spec.expiry = command.expiry;
  spec.has_cas = command.explicit_cas;
  spec.cas = command.cas_new;
  spec.access = (command.binary_key ? kAccessBinary : 0) | (command.want_cas ? kAccessCasSeen : 0);
  return spec;
}

// The version to be stored over (or instead of) the entry.
ObjectSpec NextVersion(const Command& command, const Entry& entry, Verdict verdict) {
  ObjectSpec spec = SpecOfCommand(command);
  if (!entry.present) {
    if (IsConcatenation(command)) spec.expiry = command.vivify_expiry;
    return spec;
  }
  if (IsConcatenation(command)) {
    const std::string_view old = ValueView(entry.object);
    const bool append = command.store_mode == StoreMode::kAppend;
    spec.head = append ? old : command.value;
    spec.tail = append ? command.value : old;
    spec.client_flags = task::ClientFlags(entry.object);
    spec.expiry = task::ExpiryOf(entry.object);
  }
  if (verdict == Verdict::kStoreStale) {
    spec.expiry = task::ExpiryOf(entry.object);
    spec.access |= kAccessStale | (entry.object->access & kAccessWinSent);
  }
  return spec;
}

Reply Refuse(Verdict verdict, const Entry& entry) {
  if (verdict == Verdict::kNotStored && entry.present)
    task::NoteAccess(entry.found.slot, entry.found.word);
  Reply reply = Missed(entry);
  if (verdict == Verdict::kExists) reply.outcome = Outcome::kExists;
  if (verdict == Verdict::kNotStored) reply.outcome = Outcome::kNotStored;
  return reply;
}

// Whether the version of what was placed is above that of `entry`, which may be shown now, and
// above all that were shown before.
bool Rises(const Session& session, uint64_t placed, const Entry& entry) {
  const ObjectLog& log = session.store().log();
  if (!log.AnyShown()) return true;
  const uint64_t version = task::CasOf(session.log(), placed);
  return log.IsAboveShown(version) &&
         (!entry.present || version > task::CasOf(session.log(), entry.location()));
}

// The reply to a store whose version was published at `location`.
Reply Stored(Session& session, const Command& command, const Entry& entry, uint64_t location) {
  Reply reply = Changed(Outcome::kStored, location);
  reply.miss = entry.miss;
  if (command.want_cas || IsConcatenation(command)) Describe(session, location, &reply);
  return reply;
}

}  // namespace

Verdict JudgePresent(const Command& command, uint64_t cas) {
  if (command.store_mode == StoreMode::kAdd) return Verdict::kNotStored;
  if (!ComparesCas(command) || cas == command.cas_expected) return Verdict::kStore;
  const bool older = command.cas_expected != 0 && command.cas_expected < cas;
  if (command.invalidate && older && !IsConcatenation(command)) return Verdict::kStoreStale;
  return Verdict::kExists;
}

uint64_t Store::Place(Session& session, const Command& command, uint32_t access) {
  if (!IsPlainSet(command) || IsTooLarge(session, command.key.size(), command.value.size()))
    return 0;
  ObjectSpec spec = SpecOfCommand(command);
  spec.access |= access;
  const uint64_t location = AppendVersion(session, &spec, Entry(), command.hash);
  // Its turn decides whether it bears the mark, unless a job puts it where it belongs.
  if (location != 0 && access == 0) session.ObjectAt(location)->access &= ~kAccessCasOnce;
  return location;
}

Reply StoreEntry(Session& session, const Command& command, Hint* hint) {
  uint64_t placed = std::exchange(hint->placed, 0);
  if (placed == 0) session.store().ghosts().Prefetch(command.hash);
  for (;;) {  // Ends: each round more means that another thread changed the key.
    const Entry entry = Locate(session, command, hint);
    if (MustAskBelow(entry, *hint)) return Below();
    const Verdict verdict =
        entry.present ? JudgePresent(command, task::CasOf(session.log(), entry.location()))
                      : JudgeAbsent(command);
    if (verdict != Verdict::kStore && verdict != Verdict::kStoreStale)
      return Refuse(verdict, entry);
    ObjectSpec spec = NextVersion(command, entry, verdict);
    if (IsTooLarge(session, spec.key.size(), spec.value_bytes())) return Plain(Outcome::kTooLarge);
    // A version stored or shown since the object was placed may be above its own: then it is
    // written anew.
    if (placed != 0 && !Rises(session, placed, entry)) {
      session.store().Abandon(session, placed);
      placed = 0;
    }
    if (placed != 0) KeepShownMark(session, entry, placed);
    const Room room = RoomFor(entry, spec);
    const uint64_t location =
        placed != 0 ? placed : AppendVersion(session, &spec, entry, command.hash, room);
    placed = 0;
    if (location == 0) {
      const bool depends = entry.present && !IsPlainSet(command);
      return NeedsRoom(SpecBytes(spec), room, depends ? entry.location() : 0);
    }
    const Published published = Publish(session, command, entry, location);
    if (published == Published::kDone) return Stored(session, command, entry, location);
    session.store().Abandon(session, location);
    if (published == Published::kFull) return NeedsRoom(SpecBytes(spec));
  }
}

}  // namespace weft::cache
