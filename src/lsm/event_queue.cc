#include "lsm/event_queue.h"

#include <utility>

#include "base/thread.h"

namespace weft::lsm {

EventQueue::EventQueue(std::vector<std::shared_ptr<EventListener>> listeners)
    : listeners_(std::move(listeners)) {}

Status EventQueue::Start() {
  if (!anybody()) return {};
  Result<std::thread> thread = base::StartThread([this] { Deliver(); });
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  return {};
}

EventQueue::~EventQueue() { Finish(); }

void EventQueue::Finish() {
  if (!thread_.joinable()) return;
  {
    base::MutexLock lock(&mutex_);
    ending_ = true;
  }
  told_.NotifyOne();
  thread_.join();
}

void EventQueue::Tell(Event event) {
  if (!anybody()) return;
  {
    base::MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }
  told_.NotifyOne();
}

void EventQueue::Deliver() {
  mutex_.Lock();
  for (;;) {
    while (events_.empty() && !ending_) told_.Wait(&mutex_);
    if (events_.empty()) break;
    const Event event = std::move(events_.front());
    events_.pop_front();
    mutex_.Unlock();
    for (const auto& listener : listeners_) event(listener.get());
    mutex_.Lock();
  }
  mutex_.Unlock();
}

}  // namespace weft::lsm
