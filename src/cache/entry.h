// cache/entry.h: what the store's operations share: finding an entry to change, appending a
// version, publishing it.
//
// Threads   the session's; REQUIRES everywhere: the session is inside.
#pragma once

#include <algorithm>
#include <limits>

#include "cache/command.h"
#include "cache/object_writer.h"
#include "cache/session.h"
#include "cache/store.h"

namespace weft::cache {

// An entry as an operation sees it.
struct Entry {
  task::Found found{nullptr, 0};
  task::Object* object = nullptr;  // null: no entry
  bool present = false;            // there is one and it has not ended
  Miss miss = Miss::kAbsent;       // why not

  uint64_t location() const { return task::SlotLocation(found.word); }
};

// The key's entry, not moving (waits for a mover). Uses the hint once.
Entry Locate(Session& session, const Command& command, Hint* hint);

// True where the entry still stands as it was found, recency aside.
bool StillStands(const Entry& entry);

// Sets kAccessCasOnce in the key's next version, which lies at `location`, if a client may have
// been shown one that the key had. False: it is there, or need not be.
bool KeepShownMark(Session& session, const Entry& entry, uint64_t location);
// The same once that version was published: the entry's version may have been shown up to then, and
// others may have replaced the next one since.
void KeepShownMarkOfNext(Session& session, const Command& command, const Entry& entry,
                         uint64_t location);

// Appends a version, or fills a hole (cache/holes.h). Its cas is above those that clients were
// shown of the key: an older version can be told from a newer one. It goes to the generation of the
// version that it replaces. Without one (`entry`), it goes to main if a ghost says so, otherwise to
// young. `*spec` becomes what is stored, with its version. 0: there is no room now, and only the
// size of `*spec` may still be used. `hash`: of the key.
uint64_t AppendVersion(Session& session, ObjectSpec* spec, const Entry& entry, uint64_t hash,
                       Room room = Room::kNew);

// The room that a version in the entry's place asks for. If it is no longer than the old one, it
// leaves as much dead as it takes.
inline Room RoomFor(const Entry& entry, const ObjectSpec& spec) {
  const bool fits = entry.object != nullptr && spec.value_bytes() <= task::ValueBytes(entry.object);
  return fits ? Room::kReplacing : Room::kNew;
}

// Puts the version at `location` in the entry's place, or enters it as new.
enum class Published : uint8_t { kDone, kLost, kFull };
Published Publish(Session& session, const Command& command, const Entry& entry, uint64_t location);

// Puts a copy that keeps its version (CopyOf) in the entry's place. The entry is moving meanwhile,
// so that a version shown to a client in the meantime is not lost with the original.
// REQUIRES: entry.object
Published PublishCopy(Session& session, const Entry& entry, uint64_t location);

// Removes the entry. False: it changed; locate again.
bool Remove(Session& session, const Entry& entry);

// The spec of a copy of `entry` that keeps its version. The version is written out if a client may
// know it.
ObjectSpec CopyOf(Session& session, const Entry& entry, bool version_is_shown);

// The result of storing over a present key with version `cas`.
enum class Verdict : uint8_t { kStore, kStoreStale, kNotStored, kExists, kMiss };
Verdict JudgePresent(const Command& command, uint64_t cas);

// Shows the version of the object that the entry `word` in `slot` names to a client: from now on it
// outlives moves of the object, and what replaces it is told. False: the entry has changed since,
// and the key's version may be another one. Within an epoch.
bool ShowVersion(Session& session, const uint64_t* slot, uint64_t word);
// Whether this read must refresh the object, which now ends at `expiry`. `access`: its kAccess
// bits.
bool WinsRefresh(const Session& session, const Command& command, uint32_t expiry, uint32_t access);
// The expiry that WinsRefresh judges by; the object has `expiry` so far.
inline uint32_t ExpiryToRefreshBy(const Command& command, uint32_t expiry) {
  return command.update_expiry && !command.recache_first ? command.expiry : expiry;
}

// Seconds until `expiry`, capped at what fits; -1: never.
inline int32_t SecondsLeft(const Session& session, Expiry expiry) {
  if (expiry == kNeverExpires) return -1;
  return static_cast<int32_t>(
      std::min<int64_t>(int64_t{expiry} - session.now_s(), std::numeric_limits<int32_t>::max()));
}

// Fills in what a reply says about the object at `location`.
void Describe(Session& session, uint64_t location, Reply* reply);

// Why the object at `location` has ended. REQUIRES: it has
Miss WhyEnded(const Session& session, uint64_t location);

// The version that found no room takes `bytes`. `spared`: location of the one that it is made from,
// which must not go to make that room; 0: none.
inline Reply NeedsRoom(uint64_t bytes, Room room = Room::kNew, uint64_t spared = 0) {
  Reply reply;
  reply.spared = spared;
  reply.replaces = room == Room::kReplacing;
  reply.object_bytes = static_cast<uint32_t>(bytes);
  reply.outcome = Outcome::kNoMemory;
  reply.needs_room = true;
  return reply;
}
// Most replies have their own functions, so that none is copied (docs/design/0016).
inline Reply Plain(Outcome outcome) {
  Reply reply;
  reply.outcome = outcome;
  return reply;
}
inline Reply Changed(Outcome outcome, uint64_t location) {
  Reply reply = Plain(outcome);
  reply.published = location;
  return reply;
}
// Whether the tier below must be asked before anything is decided.
inline bool MustAskBelow(const Entry& entry, const Hint& hint) {
  return hint.maybe_below && !entry.present && entry.miss != Miss::kExpired;
}
inline Reply Below() {
  Reply reply;
  reply.below = true;
  return reply;
}
inline Reply Missed(const Entry& entry) {
  Reply reply;
  reply.miss = entry.miss;
  return reply;
}
inline bool IsTooLarge(const Session& session, uint64_t key_bytes, uint64_t value_bytes) {
  return key_bytes + value_bytes > session.store().options().object_bytes_max;
}

// The operations, one a file. A hint may not be used again.
Reply ReadEntry(Session& session, const Command& command, Hint* hint);        // op_read.cc
Reply StoreEntry(Session& session, const Command& command, Hint* hint);       // op_store.cc
Reply DeleteEntry(Session& session, const Command& command, Hint* hint);      // op_delete.cc
Reply ArithmeticEntry(Session& session, const Command& command, Hint* hint);  // op_arithmetic.cc
Reply TouchEntry(Session& session, const Command& command, Hint* hint);       // op_touch.cc

}  // namespace weft::cache
