// cache/overwrite.h: plain sets that replace plain objects, while places of replaced objects are
// filled (cache/holes.h).
//
// Most of what is stored over something is such a set: neither has flags or a time to live, and
// nobody asked for a version. It takes a hole, writes the version there, swaps the entry and leaves
// another hole. StoreEntry (op_store.cc) carries out every command, and whatever is left undone
// here.
//
// Threads   the session's, within one epoch.
// Cost      some 250 instructions, half of those of StoreEntry.
// Source    task IN.insert of paper 000; docs/design/0021-filling-holes.md.
#pragma once

#include <cstdint>

#include "cache/command.h"
#include "cache/lookup_views.h"
#include "cache/session.h"

namespace weft::cache {

// Whether it is a plain set: it asks for nothing, and its object would be plain.
inline bool IsBareSet(const Command& command) {
  return IsPlainSet(command) && !command.want_cas && command.client_flags == 0 &&
         command.expiry == kNeverExpires;
}

// Puts the command's version in the place of a plain object that has its key and has not ended.
// Returns the version's location. 0: nothing was done, and StoreEntry is to.
// `slot`, `word`: of the object's live entry, as it stood within this epoch.
// REQUIRES: IsBareSet(command)
uint64_t Overwrite(Session& session, const Command& command, uint64_t* slot, uint64_t word);

// The same where task IN.search found candidate `i` of `columns`, if that is such an object and
// stands still. The slot is read anew, so that writes of the batch are seen.
inline uint64_t OverwriteCandidate(Session& session, const LookupViews& views,
                                   const task::Columns& columns, uint32_t i,
                                   const Command& command) {
  if (columns.word[i] == 0) return 0;
  uint64_t* const slot = task::SlotAtPosition(views.index, columns.position[i]);
  const uint64_t word = task::LoadAcquire64(slot);
  if (!task::SameEntry(word, columns.word[i]) || task::SlotState(word) != kSlotLive) return 0;
  const auto key_bytes = static_cast<uint32_t>(command.key.size());
  if (PlainHit(views, word, KeyData(command.key), key_bytes) == nullptr) return 0;
  return Overwrite(session, command, slot, word);
}

}  // namespace weft::cache
