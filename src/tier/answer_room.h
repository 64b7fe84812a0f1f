// tier/answer_room.h: bounds the answers that lookups have brought and no worker has fetched yet.
//
// A lookup waits for room first, and may then take more than there is. So each of the lookup
// threads may exceed the bound by what it brings at most (Lookup::bytes_max and one value).
//
// Threads   any.
// Lock      its own, a leaf; waited for without any other.
#pragma once

#include <cstddef>

#include "base/mutex.h"

namespace weft::tier {

class AnswerRoom {
 public:
  explicit AnswerRoom(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Waits until there is some room. False: Close was called.
  bool WaitForSome() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    while (taken_bytes_ >= bytes_max_ && !closed_) room_.Wait(&mutex_);
    return !closed_;
  }
  void Take(size_t bytes) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    taken_bytes_ += bytes;
  }
  void GiveBack(size_t bytes) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    taken_bytes_ -= bytes;
    room_.NotifyAll();
  }
  // Nobody waits any more.
  void Close() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    closed_ = true;
    room_.NotifyAll();
  }

 private:
  const size_t bytes_max_;
  base::Mutex mutex_;
  base::CondVar room_;
  size_t taken_bytes_ WEFT_GUARDED_BY(mutex_) = 0;
  bool closed_ WEFT_GUARDED_BY(mutex_) = false;
};

}  // namespace weft::tier
