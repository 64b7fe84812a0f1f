#include "tier/lookup_pool.h"

#include <utility>

#include "base/thread.h"

namespace weft::tier {

Result<std::unique_ptr<LookupPool>> LookupPool::Open(DiskTier* tier, uint32_t threads) {
  // The constructor is private so that no pool is without its threads; owned at once.
  auto pool = std::unique_ptr<LookupPool>(new LookupPool(tier));
  for (uint32_t i = 0; i < threads; i++) {
    auto thread = base::StartThread([pool = pool.get()] { pool->Work(); });
    if (!thread) return thread.error();
    pool->threads_.push_back(std::move(*thread));
  }
  return pool;
}

LookupPool::~LookupPool() {
  {
    base::MutexLock lock(&mutex_);
    closing_ = true;
    work_.NotifyAll();
  }
  room_->Close();
  for (std::thread& thread : threads_) thread.join();
}

void LookupPool::Ask(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home, uint64_t finish) {
  tier_->CountWait();
  base::MutexLock lock(&mutex_);
  jobs_.Add(id, std::move(lookup), home, finish);
  work_.NotifyOne();
}

void LookupPool::Forget(uint64_t id, Mailbox* home) {
  std::unique_ptr<Lookup> forgotten;  // freed behind the lock
  base::MutexLock lock(&mutex_);
  forgotten = jobs_.Forget(id, home);
}

void LookupPool::Work() {
  base::SetThreadName("weft-lookup");
  LookupQueue::Job job;
  while (room_->WaitForSome() && TakeJob(&job)) {
    tier_->Answer(job.lookup.get());
    Mailbox::Letter letter;
    letter.id = job.id;
    letter.finish = NoteRun(job.start, LookupQueue::CostOf(*job.lookup));
    letter.bytes = job.lookup->found_bytes();
    letter.lookup = std::move(job.lookup);
    letter.room = room_;
    room_->Take(letter.bytes);
    job.home->Put(std::move(letter));
  }
}

uint64_t LookupPool::NoteRun(uint64_t start, uint64_t cost) {
  base::MutexLock lock(&mutex_);
  return jobs_.Ran(start, cost);
}

// Waits for one. False: the pool closes.
bool LookupPool::TakeJob(LookupQueue::Job* job) {
  base::MutexLock lock(&mutex_);
  while (jobs_.empty() && !closing_) work_.Wait(&mutex_);
  if (closing_) return false;
  *job = jobs_.Take();
  return true;
}

}  // namespace weft::tier
