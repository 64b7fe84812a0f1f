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
#include "cache/session.h"

namespace weft::cache {

// Whether it is a plain set: it asks for nothing, and its object would be plain.
inline bool IsBareSet(const Command& command) {
  return command.verb == Verb::kStore && command.store_mode == StoreMode::kSet &&
         !command.compare_cas && !command.explicit_cas && !command.want_cas &&
         command.client_flags == 0 && command.expiry == kNeverExpires;
}

// Puts the command's version in the place of a plain object that has its key and has not ended.
// Returns the version's location. 0: nothing was done, and StoreEntry is to.
// `slot`, `word`: of the object's live entry, as it stood within this epoch.
// REQUIRES: IsBareSet(command)
uint64_t Overwrite(Session& session, const Command& command, uint64_t* slot, uint64_t word);

}  // namespace weft::cache
