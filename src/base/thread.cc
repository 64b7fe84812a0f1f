#include "base/thread.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::base {

void SetThreadName(const char* name) { (void)pthread_setname_np(pthread_self(), name); }

void LowerThreadPriority(int nice) {
  // On Linux this is the thread's own, contrary to the standard.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice);
}

}  // namespace weft::base
