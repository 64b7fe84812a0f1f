#include "background.h"

#include <thread>

namespace weft::compat {

void BackgroundThread::Add(void (*function)(void*), void* argument) {
  base::MutexLock lock(&mutex_);
  if (!started_) {
    started_ = true;
    std::thread([this] { Run(); }).detach();
  }
  calls_.push_back({function, argument});
  not_empty_.NotifyOne();
}

BackgroundThread::Call BackgroundThread::Next() {
  base::MutexLock lock(&mutex_);
  while (calls_.empty()) not_empty_.Wait(&mutex_);
  const Call call = calls_.front();
  calls_.pop_front();
  return call;
}

void BackgroundThread::Run() {
  for (;;) {
    const Call call = Next();
    call.function(call.argument);
  }
}

}  // namespace weft::compat
