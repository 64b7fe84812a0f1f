// lsm/flush_first.h: while a flush computes, one compaction leaves it its processor.
//
// Writers, the flush and the compactions are one thread more than processors on small machines.
// Left to the scheduler, flush and compaction take turns with the writer on its processor too, some
// milliseconds at a time; so one compaction stands still instead, as it does where one thread does
// both.
//
//   flush thread:        FlushFirst::Turn turn(&flush_first);  // for as long as it computes
//   compaction threads:  flush_first.GiveWay();                // every now and then
//
// Threads   Turn: one at a time. GiveWay: any.
// Cost      GiveWay: an atomic load while no flush computes.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace weft::lsm {

class FlushFirst {
 public:
  // With a processor for each of `compaction_threads`, the flush and a writer nobody ever waits;
  // nor where `paced`: flushes wait for a rate limiter then, more than they compute.
  FlushFirst(int compaction_threads, int processors, bool paced)
      : needed_(!paced && compaction_threads + 2 > processors) {}

  class Turn {
   public:
    explicit Turn(FlushFirst* all) : all_(all) { all_->Begin(); }
    ~Turn() { End(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // Before its time: what follows waits for a disk.
    void End() {
      if (all_ != nullptr) all_->End();
      all_ = nullptr;
    }

   private:
    FlushFirst* all_;
  };

  // Waits for the end of the flush that computes, if there is one and no other thread waits for it.
  void GiveWay() WEFT_EXCLUDES(mutex_) {
    // Relaxed: a hint; looked at again under the mutex.
    if (wanted_.load(std::memory_order_relaxed)) [[unlikely]]
      Wait();
  }

 private:
  void Begin() WEFT_EXCLUDES(mutex_) {
    if (!needed_) return;
    base::MutexLock lock(&mutex_);
    computing_ = true;
    turn_++;
    wanted_.store(true, std::memory_order_relaxed);
  }
  void End() WEFT_EXCLUDES(mutex_) {
    if (!needed_) return;
    base::MutexLock lock(&mutex_);
    computing_ = false;
    wanted_.store(false, std::memory_order_relaxed);
    ended_.NotifyAll();
  }
  void Wait() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    if (!wanted_.load(std::memory_order_relaxed)) return;
    wanted_.store(false, std::memory_order_relaxed);
    // The next turn wants one of its own: not this thread and another.
    const uint64_t turn = turn_;
    while (computing_ && turn_ == turn) ended_.Wait(&mutex_);
  }

  const bool needed_;
  // A flush computes, and no compaction has given way yet. Changed with the mutex held.
  std::atomic<bool> wanted_{false};
  base::Mutex mutex_;
  base::CondVar ended_;
  bool computing_ WEFT_GUARDED_BY(mutex_) = false;
  uint64_t turn_ WEFT_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::lsm
