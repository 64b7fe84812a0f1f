#include <utility>

#include "base/check.h"
#include "base/ticks.h"
#include "processor/processor.h"

namespace weft::processor {

Job::~Job() { base::MutexLock lock(&mutex_); }

void Job::Begin() {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(done_.load(std::memory_order_relaxed));
  done_.store(false, std::memory_order_relaxed);
}

void Job::Finish(Status status) {
  base::MutexLock lock(&mutex_);
  status_ = std::move(status);
  ended_ticks_ = base::ReadTicks();
  done_.store(true, std::memory_order_release);  // pairs with done()
  ended_.NotifyAll();
  if (on_done) on_done();
}

bool Job::WaitFor(int ms) {
  base::MutexLock lock(&mutex_);
  // Woken without a reason it only comes back too early.
  if (!done_.load(std::memory_order_relaxed)) ended_.WaitFor(&mutex_, ms);
  return done_.load(std::memory_order_relaxed);
}

bool Job::Leave() {
  base::MutexLock lock(&mutex_);
  if (done_.load(std::memory_order_relaxed)) return false;
  on_done = nullptr;
  return true;
}

const Status& Job::Wait() {
  base::MutexLock lock(&mutex_);
  while (!done_.load(std::memory_order_relaxed)) ended_.Wait(&mutex_);
  return status_;
}

}  // namespace weft::processor
