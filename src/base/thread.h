// base/thread.h: threads that the system may refuse, and what a thread says to it about itself.
//
// Threads   each call but StartThread is about the calling thread.
// Errors    StartThread: kIoError with the system's reason. The limits of processes (ulimit -u, a
//           container's) and of addresses (ulimit -v) bound threads, too.
#pragma once

#include <functional>
#include <thread>

#include "weft/status.h"

namespace weft::base {

// A new thread that runs `work`. The constructor of std::thread throws where this fails.
Result<std::thread> StartThread(std::function<void()> work);

// Shown by ps and debuggers; at most 15 characters count.
void SetThreadName(const char* name);

// Gives way to threads of usual priority: `nice` as nice(1) has it, 0 to 19. A hint: without effect
// where the system refuses.
void LowerThreadPriority(int nice);

}  // namespace weft::base
