// processor/mirror/take_marks.h: finds what MarkBucket (task/index.h) has marked, and clears it.
//
// Promise   a mark whose MarkBucket had returned before a call begins is found by that call, unless
//           one before it found it at or after the time that MarkBucket began. It may be found
//           again by the next.
// Why       MarkBucket looks at the mark, then at the summary, and sets each where it is not; a
//           call clears a word of the summary, then takes the words of marks below it. All of this
//           is in one order of all threads (sequentially consistent). Whether MarkBucket set the
//           bit of the summary or saw it set, the next clearing of that word finds it; the mark was
//           there before the bit was looked at, so it is among those taken after the clearing, or
//           was taken in between. A mark whose bit of the summary is not set is that of a
//           MarkBucket that has not returned; whoever else sees that mark sets the bit itself. Had
//           the marks been taken first, a mark could come between that and the clearing, and be
//           lost to everybody.
// Some      of many marks a call takes some, and leaves the others as they were made.
// Cost      reads a bit for 32 KiB of index, and 64 bytes for each of these that has a mark.
//
// Threads   one call at a time for a table, beside any number of MarkBucket.
#pragma once

#include <cstdint>
#include <vector>

#include "task/index.h"

namespace weft::processor {

// Adds the buckets of index.older that were marked, in rising order. Once `enough` are taken it
// stops, with up to kTakenAtOnce more; false: it may have left some. REQUIRES: index.marks is not
// null
inline constexpr uint64_t kTakenAtOnce = 16384;
bool TakeMarks(const task::IndexRef& index, size_t enough, std::vector<uint64_t>* numbers);

}  // namespace weft::processor
