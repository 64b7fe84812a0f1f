// tier/lookup_pool.h: threads that look keys up in the durable store, so that no worker waits for
// the disk.
//
// Threads   Ask, Mailbox: any. A mailbox outlives the pool.
// Errors    Open: kIoError where the system gives too few threads.
// Lock      Mailbox's and the pool's, each by itself; never held over a lookup.
// Memory    answers that no worker has fetched: AnswerRoom of kAnswerBytesMax.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "tier/answer_room.h"
#include "tier/disk_tier.h"
#include "tier/lookup.h"

namespace weft::tier {

// Where answered lookups are left for one worker.
class Mailbox {
 public:
  struct Letter {
    uint64_t id = 0;  // the asker's own: a connection that may be gone by now
    std::unique_ptr<Lookup> lookup;
    // Where it takes room until it is fetched, and how much.
    std::shared_ptr<AnswerRoom> room = nullptr;
    size_t bytes = 0;
  };

  // `ring` is called on the pool's threads after a letter has come.
  explicit Mailbox(std::function<void()> ring) : ring_(std::move(ring)) {}

  void Put(Letter letter) WEFT_EXCLUDES(mutex_);
  // All that has come since the last call.
  std::vector<Letter> Take() WEFT_EXCLUDES(mutex_);

 private:
  const std::function<void()> ring_;
  base::Mutex mutex_;
  std::vector<Letter> letters_ WEFT_GUARDED_BY(mutex_);
};

class LookupPool {
 public:
  static constexpr size_t kAnswerBytesMax = size_t{16} << 20;

  static Result<std::unique_ptr<LookupPool>> Open(DiskTier* tier, uint32_t threads);
  // Finishes what is under way; what waits is dropped.
  ~LookupPool();

  // The answers come to `home`.
  void Ask(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home) WEFT_EXCLUDES(mutex_);

 private:
  struct Job {
    Mailbox::Letter letter;
    Mailbox* home = nullptr;
  };
  explicit LookupPool(DiskTier* tier) : tier_(tier) {}
  void Work() WEFT_EXCLUDES(mutex_);
  bool TakeJob(Job* job) WEFT_EXCLUDES(mutex_);

  DiskTier* const tier_;
  const std::shared_ptr<AnswerRoom> room_ = std::make_shared<AnswerRoom>(kAnswerBytesMax);
  base::Mutex mutex_;
  base::CondVar work_;
  std::deque<Job> jobs_ WEFT_GUARDED_BY(mutex_);
  bool closing_ WEFT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace weft::tier
