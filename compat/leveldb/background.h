// compat/leveldb/background.h: the one thread that runs the calls of Env::Schedule, in their order.
//
// Threads   Add from any thread at once.
// Lifetime  the thread starts with the first call and lives as long as the process.
#pragma once

#include <deque>

#include "base/mutex.h"

namespace weft::compat {

class BackgroundThread {
 public:
  void Add(void (*function)(void*), void* argument);

 private:
  struct Call {
    void (*function)(void*);
    void* argument;
  };
  [[noreturn]] void Run();
  Call Next();

  base::Mutex mutex_;
  base::CondVar not_empty_;
  bool started_ WEFT_GUARDED_BY(mutex_) = false;
  std::deque<Call> calls_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::compat
