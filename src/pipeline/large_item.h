// pipeline/large_item.h: what commands answer about an item that memory cannot hold, and what they
// make of it.
//
// An earlier run stored it under a greater -I; or there is no room for it, or for what the command
// makes of it. It is not entered into the cache; a command works on what was brought from disk, and
// what it changes is written there. What the operations of the cache decide about an entry is asked
// of them (cache/entry.h, cache/number.h).
//
// Threads   the session's; REQUIRES: the session is inside, and the key's stripe is held.
// Errors    kTooLarge for a value that is larger than -I, whatever the item has now. A number that
//           is as large counts all the same.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/command.h"
#include "cache/session.h"
#include "tier/item.h"

namespace weft::pipeline {

// The marks of an item (tier/item.h) as kAccess bits of an object, and back.
uint32_t AccessOfMarks(uint8_t marks);
uint8_t MarksOfAccess(uint32_t access);

enum class LargeFate : uint8_t { kStays, kChanged, kRemoved };

struct LargeAnswer {
  LargeFate fate = LargeFate::kStays;
  tier::Item item;         // as it is from now on; views of the item before, the command and `made`
  cache::Reply reply;      // likewise
  std::vector<char> made;  // a value that the command has made; it stays where it is when moved
};

// REQUIRES: `item` has not ended, and its version has been given out.
LargeAnswer AnswerLarge(const cache::Command& command, const tier::Item& item,
                        cache::Session& session);

}  // namespace weft::pipeline
