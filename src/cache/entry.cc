#include "cache/entry.h"

#include <thread>

#include "cache/eviction_watch.h"
#include "cache/full_pair.h"
#include "task/delete.h"
#include "task/insert.h"

namespace weft::cache {

Entry Locate(Session& session, const Command& command, Hint* hint) {
  Entry entry;
  bool first = hint->searched;
  for (;;) {  // Ends: an entry moves for as long as its mover takes to copy one object.
    entry.found =
        first ? hint->found
              : task::Find(session.index(), session.log(), TaskKey(command.key, command.hash));
    first = false;
    hint->searched = false;
    if (entry.found.slot == nullptr) return entry;
    if (task::SlotState(entry.found.word) == kSlotLive) break;
    std::this_thread::yield();
  }
  entry.object = session.ObjectAt(entry.location());
  entry.present = !task::IsEnded(session.log(), entry.location(), entry.object, session.now_s());
  if (!entry.present) entry.miss = WhyEnded(session, entry.location());
  return entry;
}

Miss WhyEnded(const Session& session, uint64_t location) {
  return task::IsFlushed(session.log(), location) ? Miss::kFlushed : Miss::kExpired;
}

bool StillStands(const Entry& entry) {
  return task::SameEntry(task::LoadAcquire64(entry.found.slot), entry.found.word);
}

// What the next version of the key must bear in its `access` if a client may have been shown one
// that the key had. A key without an entry has no mark: it may have had any that was shown.
static uint32_t ShownMark(const Session& session, const Entry& entry) {
  const ObjectLog& log = session.store().log();
  if (!entry.present) return log.may_fill() && log.AnyShown() ? kAccessCasOnce : 0;
  const uint32_t access = task::LoadRelaxed32(&entry.object->access);
  return (access & (kAccessCasSeen | kAccessCasOnce)) != 0 ? kAccessCasOnce : 0;
}

// Writes the version into a hole. 0: there is none, or the version must lie elsewhere: among others
// that end when it does, or above those of its key that were shown.
static uint64_t FillVersion(Session& session, ObjectSpec* spec, const Entry& entry) {
  const ObjectLog& log = session.store().log();
  if (!log.is_filling() || !entry.present || spec->has_cas || spec->expiry != kNeverExpires ||
      (spec->access & (kAccessCasSeen | kAccessCasOnce)) != 0)
    return 0;
  const uint64_t bytes = SpecBytes(*spec);
  const auto units = static_cast<uint32_t>(bytes / kLocationUnitBytes);
  const Generation generation = log.GenerationOf(entry.location());
  const uint64_t location = session.TakeHole(units, generation);
  if (location == 0) return 0;
  spec->access = task::WithAccessTime(spec->access, session.now_s());
  WriteObject(session.ObjectAt(location), *spec);
  task::TouchWrite(session.ObjectAt(location), bytes);
  session.PrefetchNextHole(units, generation);
  return location;
}

uint64_t AppendVersion(Session& session, ObjectSpec* spec, const Entry& entry, uint64_t hash,
                       Room room) {
  spec->access |= spec->has_cas ? kAccessCasOnce : ShownMark(session, entry);
  if (const uint64_t filled = FillVersion(session, spec, entry); filled != 0) return filled;
  ObjectLog& log = session.store().log();
  Ghosts& ghosts = session.store().ghosts();
  const uint64_t ghost_age = entry.present ? Ghosts::kNone : ghosts.AgeOf(hash);
  const bool is_ghost = ghost_age != Ghosts::kNone;
  spec->has_all_fields = session.store().keeps_all_fields();
  uint64_t bytes = SpecBytes(*spec);
  Generation generation = Generation::kYoung;
  if (entry.present) generation = log.GenerationOf(entry.location());
  if (is_ghost && !session.store().IsLarge(bytes)) generation = Generation::kMain;
  const uint32_t ttl_s = spec->expiry == kNeverExpires    ? 0
                         : spec->expiry > session.now_s() ? spec->expiry - session.now_s()
                                                          : 1;
  const uint32_t group = log.GroupOf(ttl_s);
  // What it replaces may be shown before it is published.
  const uint64_t floor = entry.present ? task::CasOf(session.log(), entry.location()) : 0;
  if (!spec->has_cas && (session.store().keeps_versions() ||
                         !log.WouldRise(session.lane(), generation, group, bytes, floor))) {
    spec->has_cas = true;
    spec->cas = log.NextVersion();
    bytes = SpecBytes(*spec);
  }
  spec->access = task::WithAccessTime(spec->access, session.now_s());
  const uint64_t location =
      log.Append(session.lane(), generation, group, bytes, spec->expiry, room);
  if (location == 0) return 0;
  if (is_ghost) {
    ghosts.Forget(hash);
    log.AdaptYoung(ghost_age, bytes / kLocationUnitBytes);
    session.counters().ghosts_stored.Add(1);
  }
  WriteObject(session.ObjectAt(location), *spec);
  task::TouchWrite(session.ObjectAt(location), bytes);
  session.AddAppended(bytes);
  session.store().NoteStoredBytes(location, static_cast<uint32_t>(bytes));
  return location;
}

// A flush since the session took its views empties what the new version may be made of: look again.
// Asked after the append: a version that was appended before the flush is emptied with the rest.
static bool WasFlushed(Session& session) {
  if (session.store().log().flush_floor() == session.log().flush_floor) return false;
  session.RefreshLog();
  return true;
}

bool KeepShownMark(Session& session, const Entry& entry, uint64_t location) {
  task::Object* const object = session.ObjectAt(location);
  const uint32_t mark = ShownMark(session, entry);
  if ((task::LoadRelaxed32(&object->access) & mark) == mark) return false;
  task::FetchOr32(&object->access, mark);
  return true;
}

// Whoever replaces an object reads its mark after the swap, and here the key is looked up after the
// mark is set. So one of the two sees the other, and the mark goes on to what stands now. A mover
// copies it while the entry is moving.
void KeepShownMarkOfNext(Session& session, const Command& command, const Entry& entry,
                         uint64_t location) {
  if (!KeepShownMark(session, entry, location)) return;
  for (;;) {  // Ends: each round more means that another thread changed the key.
    Hint none;
    const Entry now = Locate(session, command, &none);
    if (now.found.slot == nullptr) return;  // what is added later bears it
    task::FetchOr32(&now.object->access, kAccessCasOnce);
    if (StillStands(now)) return;
  }
}

Published Publish(Session& session, const Command& command, const Entry& entry, uint64_t location) {
  Store& store = session.store();
  if (WasFlushed(session)) return Published::kLost;
  // Not later: whoever finds the key deleted must know (ShownMark). Not when it is placed: versions
  // that were placed before it would have to be laid anew (Rises).
  if (command.want_cas) store.log().NoteShown(task::CasOf(session.log(), location));
  if (entry.found.slot != nullptr) {
    const uint64_t replaced = task::WithLocation(entry.found.word, location);
    task::MarkSlot(session.index_to_change(), entry.found.slot);
    task::NoteSeen(entry.object);
    if (!task::ReplaceEntry(entry.found.slot, entry.found.word, replaced)) {
      session.counters().retries.Add(1);
      return Published::kLost;
    }
    KeepShownMarkOfNext(session, command, entry, location);
    if (WEFT_UNLIKELY(!entry.present)) session.NoteEnded(entry.object);
    session.ReplaceObject(entry.location());
    return Published::kDone;
  }
  // While it grows, the newer table must keep room for what still stands in the older one.
  if (session.index().newer.buckets != nullptr &&
      store.index().IsCrowded(store.ItemCount(), session.index().newer.bucket_count)) {
    store.AskForGrowth();
    return Published::kFull;
  }
  const auto insert = [&](bool may_drop) {
    return task::Insert(session.index_to_change(), session.log(),
                        TaskKey(command.key, command.hash), location, may_drop);
  };
  task::Inserted inserted = insert(store.DropsFromFullSets());
  if (inserted.status == kInsertFull && DropEnded(session, command.hash)) inserted = insert(false);
  if (inserted.status == kInsertFull && store.MayDropEntry()) inserted = insert(true);
  if (inserted.victim != 0) {
    TellEviction(session, task::SlotLocation(inserted.victim));
    session.ReleaseObject(task::SlotLocation(inserted.victim));
    session.counters().evictions.Add(1);
    session.AddItems(-1);
  }
  if (inserted.status == kInsertDone) {
    session.AddItems(1);
    KeepShownMarkOfNext(session, command, entry, location);
    return Published::kDone;
  }
  if (inserted.status == kInsertFull) {
    store.AskForGrowth();
    return Published::kFull;
  }
  session.counters().retries.Add(1);
  return Published::kLost;
}

Published PublishCopy(Session& session, const Entry& entry, uint64_t location) {
  if (WasFlushed(session)) return Published::kLost;
  const uint64_t moving = task::WithState(entry.found.word, kSlotMoving);
  task::MarkSlot(session.index_to_change(), entry.found.slot);
  task::NoteSeen(entry.object);
  if (!task::ReplaceEntry(entry.found.slot, entry.found.word, moving)) return Published::kLost;
  // Pairs with ShowVersion (op_read.cc): who shows a version sets the bit, then looks for the mark.
  const uint32_t access = task::LoadRelaxed32(&entry.object->access);
  const bool keeps_cas =
      task::CasOf(session.log(), location) == task::CasOf(session.log(), entry.location());
  if ((access & kAccessCasSeen) != 0 && !keeps_cas) {
    task::CompareAndSwap64(entry.found.slot, moving, entry.found.word);  // nobody else changes it
    return Published::kLost;
  }
  task::CompareAndSwap64(entry.found.slot, moving, task::WithLocation(entry.found.word, location));
  session.ReleaseObject(entry.location());
  return Published::kDone;
}

bool Remove(Session& session, const Entry& entry) {
  task::MarkSlot(session.index_to_change(), entry.found.slot);
  if (!task::Delete(session.log(), entry.found)) return false;
  session.ReleaseObject(entry.location());
  session.AddItems(-1);
  return true;
}

ObjectSpec CopyOf(Session& session, const Entry& entry, bool version_is_shown) {
  ObjectSpec spec = SpecOf(entry.object);
  if (version_is_shown || (spec.access & kAccessCasSeen) != 0) {
    spec.cas = task::CasOf(session.log(), entry.location());
    spec.has_cas = true;
  }
  return spec;
}

void Describe(Session& session, uint64_t location, Reply* reply) {
  const task::Object* object = session.ObjectAt(location);
  const uint32_t access = task::LoadRelaxed32(&object->access);
  reply->binary_key = (access & kAccessBinary) != 0;
  reply->client_flags = task::ClientFlags(object);
  reply->ttl_s = SecondsLeft(session, task::ExpiryOf(object));
  reply->object_bytes = static_cast<uint32_t>(task::StoredBytes(object));
  reply->cas = task::CasOf(session.log(), location);
  reply->value = ValueView(object);
}

}  // namespace weft::cache
