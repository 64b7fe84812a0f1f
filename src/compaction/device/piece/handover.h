// compaction/device/piece/handover.h: hands things from one thread to another, a few at a time.
//
// Threads   any; made for one that puts and one that takes.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace weft::compaction::device {

template <typename T>
class Handover {
 public:
  // What waits to be taken is at most `room`.
  explicit Handover(size_t room) : room_(room) {}

  // Waits for room. False where it was closed: the thing is gone.
  bool Put(T thing) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    while (waiting_.size() >= room_ && !closed_) changed_.Wait(&mutex_);
    if (closed_) return false;
    waiting_.push_back(std::move(thing));
    changed_.NotifyAll();
    return true;
  }
  // Waits for something. None where it was closed, and all has been taken.
  std::optional<T> Take() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    while (waiting_.empty() && !closed_) changed_.Wait(&mutex_);
    if (waiting_.empty()) return std::nullopt;
    return TakeLocked();
  }
  // Of what is there already.
  std::optional<T> TryTake() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    if (waiting_.empty()) return std::nullopt;
    return TakeLocked();
  }
  // Nothing more is put.
  void Close() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }

 private:
  std::optional<T> TakeLocked() WEFT_REQUIRES(mutex_) {
    std::optional<T> thing(std::move(waiting_.front()));
    waiting_.pop_front();
    changed_.NotifyAll();
    return thing;
  }

  const size_t room_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<T> waiting_ WEFT_GUARDED_BY(mutex_);
  bool closed_ WEFT_GUARDED_BY(mutex_) = false;
};

}  // namespace weft::compaction::device
