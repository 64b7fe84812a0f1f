#include "base/thread.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace weft::base {

Result<std::thread> StartThread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return Status::FromErrno("start a thread", error.code().value());
  } catch (const std::bad_alloc&) {
    return Status::FromErrno("start a thread", ENOMEM);
  }
}

void SetThreadName(const char* name) { (void)pthread_setname_np(pthread_self(), name); }

void LowerThreadPriority(int nice) {
  // On Linux this is the thread's own, contrary to the standard.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice);
}

}  // namespace weft::base
