// lsm/event_queue.h: calls a store's listeners, in order, from its own thread.
//
// So whoever calls Tell may hold locks, and a slow listener delays nobody. Without listeners there
// is no thread, and Tell costs a branch.
//
// Threads   Tell: any. Start: one, first. Finish: one, once nobody else tells.
// Errors    Start: kIoError if the system gives no thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "weft/db_events.h"
#include "weft/status.h"

namespace weft::lsm {

class EventQueue {
 public:
  using Event = std::function<void(EventListener*)>;

  explicit EventQueue(std::vector<std::shared_ptr<EventListener>> listeners);
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // Events wait until it is called.
  Status Start();
  bool anybody() const { return !listeners_.empty(); }
  void Tell(Event event) WEFT_EXCLUDES(mutex_);
  // Returns when all events have been delivered, including those that listeners caused meanwhile.
  // Later events reach nobody.
  void Finish() WEFT_EXCLUDES(mutex_);

 private:
  void Deliver();

  const std::vector<std::shared_ptr<EventListener>> listeners_;
  base::Mutex mutex_;
  base::CondVar told_;
  std::deque<Event> events_ WEFT_GUARDED_BY(mutex_);
  bool ending_ WEFT_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace weft::lsm
