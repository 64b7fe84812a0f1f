// tier/lookup_pool.h: threads that look keys up in the durable store, so that no worker waits for
// the disk.
//
// Askers share the threads' time (tier/lookup_queue.h).
//
// Threads   Ask, Forget: any. A mailbox outlives the pool.
// Errors    Open: kIoError where the system gives too few threads.
// Lock      the pool's, a leaf; never held over a lookup.
// Memory    one Lookup an asker that waits, and answers that no worker has fetched: AnswerRoom of
//           kAnswerBytesMax.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "tier/answer_room.h"
#include "tier/disk_tier.h"
#include "tier/lookup.h"
#include "tier/lookup_queue.h"
#include "tier/mailbox.h"

namespace weft::tier {

class LookupPool {
 public:
  static constexpr size_t kAnswerBytesMax = size_t{16} << 20;

  static Result<std::unique_ptr<LookupPool>> Open(DiskTier* tier, uint32_t threads);
  // Finishes what is under way; what waits is dropped.
  ~LookupPool();

  // The answers come to `home`. `finish`: of the last letter to this asker; 0 where there was none.
  // REQUIRES: nothing of it waits or is under way.
  void Ask(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home, uint64_t finish)
      WEFT_EXCLUDES(mutex_);
  // The asker has gone: what it asked is not looked up, if that has not begun. Answers that are
  // under way come to `home` all the same.
  void Forget(uint64_t id, Mailbox* home) WEFT_EXCLUDES(mutex_);

 private:
  explicit LookupPool(DiskTier* tier) : tier_(tier) {}
  void Work() WEFT_EXCLUDES(mutex_);
  bool TakeJob(LookupQueue::Job* job) WEFT_EXCLUDES(mutex_);
  uint64_t NoteRun(uint64_t start, uint64_t cost) WEFT_EXCLUDES(mutex_);

  DiskTier* const tier_;
  const std::shared_ptr<AnswerRoom> room_ = std::make_shared<AnswerRoom>(kAnswerBytesMax);
  base::Mutex mutex_;
  base::CondVar work_;
  LookupQueue jobs_ WEFT_GUARDED_BY(mutex_);
  bool closing_ WEFT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace weft::tier
