// task/delete.h: task IN.delete: an entry leaves the index.
#pragma once

#include "task/search.h"

WEFT_TASK_BEGIN

// Removes exactly the entry found (recency aside). False: it changed; search again.
// REQUIRES: the word found is live.
WEFT_FN bool Delete(LogRef log, Found found) {
  NoteSeen(ObjectAt(log, SlotLocation(found.word)));
  return ReplaceEntry(found.slot, found.word, kSlotEmpty);
}

WEFT_TASK_END
