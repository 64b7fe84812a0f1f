// base/thread.h: what a background thread says to the system about itself.
//
// Threads   each call is about the calling thread.
#pragma once

namespace weft::base {

// Shown by ps and debuggers; at most 15 characters count.
void SetThreadName(const char* name);

// Gives way to threads of usual priority: `nice` as nice(1) has it, 0 to 19. A hint: without effect
// where the system refuses.
void LowerThreadPriority(int nice);

}  // namespace weft::base
