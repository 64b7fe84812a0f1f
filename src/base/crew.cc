#include "base/crew.h"

#include <algorithm>
#include <system_error>

#include "base/clock.h"
#include "base/thread.h"

namespace weft::base {

Crew::Crew(int helpers, const char* name) {
  for (int i = 0; i < helpers; i++) {
    try {
      helpers_.emplace_back([this, name] {
        SetThreadName(name);
        Help();
      });
    } catch (const std::system_error&) {
      return;  // the system gives no more: the loops take longer
    }
  }
}

Crew::~Crew() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  for (std::thread& helper : helpers_) helper.join();
}

void Crew::RunNextLocked(Loop* loop) {
  const size_t number = loop->next++;
  if (loop->next == loop->items) loops_.erase(std::find(loops_.begin(), loops_.end(), loop));
  mutex_.Unlock();
  loop->item(number);
  mutex_.Lock();
  // The caller of ForEach may take the loop away as soon as the mutex is free.
  if (++loop->ended == loop->items) ended_.NotifyAll();
}

void Crew::ForEach(size_t items, const std::function<void(size_t)>& item) {
  if (items == 0) return;
  Loop loop{item, items};
  MutexLock lock(&mutex_);
  loops_.push_back(&loop);
  if (items > 1) work_.NotifyAll();
  while (loop.next < items) RunNextLocked(&loop);
  while (loop.ended < items) ended_.Wait(&mutex_);
}

void Crew::Help() {
  MutexLock lock(&mutex_);
  for (;;) {
    while (loops_.empty() && !stopping_) work_.Wait(&mutex_);
    if (loops_.empty()) return;
    const uint64_t start_ns = ThreadCpuNs();
    RunNextLocked(loops_.front());
    cpu_ns_ += ThreadCpuNs() - start_ns;
  }
}

uint64_t Crew::cpu_ns() const {
  MutexLock lock(&mutex_);
  return cpu_ns_;
}

}  // namespace weft::base
