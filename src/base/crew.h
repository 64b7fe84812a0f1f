// base/crew.h: threads that help with loops whose items may run side by side.
//
// Items     are handed out one at a time, in order: each should be worth some ten microseconds.
// Threads   any may call ForEach, several at once: helpers take items of the loop that came first,
//           the caller its own. A loop without helpers is run by its caller alone.
// Cost      a mutex is taken twice an item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace weft::base {

class Crew {
 public:
  // So many threads beside the callers, or as many as the system gives; 0 is a crew, too. `name`:
  // as ps shows them; it must outlive this.
  Crew(int helpers, const char* name);
  // REQUIRES: no ForEach is under way
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls item(0) to item(items - 1), the caller's thread among those that do, and returns when all
  // have ended. REQUIRES: item does not throw
  void ForEach(size_t items, const std::function<void(size_t)>& item) WEFT_EXCLUDES(mutex_);

  // That the helpers have run so far.
  uint64_t cpu_ns() const WEFT_EXCLUDES(mutex_);

 private:
  struct Loop {
    const std::function<void(size_t)>& item;
    const size_t items;
    size_t next = 0;
    size_t ended = 0;
  };

  void Help() WEFT_EXCLUDES(mutex_);
  void RunNextLocked(Loop* loop) WEFT_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar work_;                                     // loops_ or stopping_ has changed
  CondVar ended_;                                    // of some loop all items have ended
  std::deque<Loop*> loops_ WEFT_GUARDED_BY(mutex_);  // that have items left
  bool stopping_ WEFT_GUARDED_BY(mutex_) = false;
  uint64_t cpu_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace weft::base
