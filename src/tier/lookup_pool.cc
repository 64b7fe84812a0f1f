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
  std::vector<Letter> letters;
  {
    base::MutexLock lock(&mutex_);
    letters.swap(letters_);
  }
  for (Letter& letter : letters) {
    if (letter.room != nullptr) std::exchange(letter.room, nullptr)->GiveBack(letter.bytes);
  }
  return letters;
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
  room_->Close();
  for (std::thread& thread : threads_) thread.join();
}

void LookupPool::Ask(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home) {
  tier_->CountWait();
  base::MutexLock lock(&mutex_);
  jobs_.push_back({{id, std::move(lookup), nullptr, 0}, home});
  work_.NotifyOne();
}

void LookupPool::Work() {
  base::SetThreadName("weft-lookup");
  Job job;
  while (room_->WaitForSome() && TakeJob(&job)) {
    Mailbox::Letter& letter = job.letter;
    tier_->Answer(letter.lookup.get());
    letter.room = room_;
    letter.bytes = letter.lookup->found_bytes();
    room_->Take(letter.bytes);
    job.home->Put(std::move(letter));
  }
}

// Waits for one. False: the pool closes.
bool LookupPool::TakeJob(Job* job) {
  base::MutexLock lock(&mutex_);
  while (jobs_.empty() && !closing_) work_.Wait(&mutex_);
  if (closing_) return false;
  *job = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

}  // namespace weft::tier
