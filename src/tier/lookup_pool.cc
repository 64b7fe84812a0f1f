#include "tier/lookup_pool.h"

#include <utility>

#include "base/thread.h"

namespace weft::tier {

void Mailbox::Put(Letter letter) {
  {
    base::MutexLock lock(&mutex_);
    letters_.push_back(std::move(letter));
  }
  ring_();
}

std::vector<Mailbox::Letter> Mailbox::Take() {
  base::MutexLock lock(&mutex_);
  return std::exchange(letters_, {});
}

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
  for (std::thread& thread : threads_) thread.join();
}

void LookupPool::Ask(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home) {
  tier_->CountWait();
  base::MutexLock lock(&mutex_);
  jobs_.push_back({{id, std::move(lookup)}, home});
  work_.NotifyOne();
}

void LookupPool::Work() {
  base::SetThreadName("weft-lookup");
  base::MutexLock lock(&mutex_);
  for (;;) {  // Ends when the pool closes.
    while (jobs_.empty() && !closing_) work_.Wait(&mutex_);
    if (closing_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    mutex_.Unlock();
    tier_->Answer(job.letter.lookup->asked());
    job.home->Put(std::move(job.letter));
    mutex_.Lock();
  }
}

}  // namespace weft::tier
