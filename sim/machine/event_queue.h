// sim/machine/event_queue.h: whatever is on its way through the machine, the next to arrive first.
//
// Things that arrive at the same time do so by kind, then by destination, then in the order of
// their sending. None of these depends on whether idle cycles are skipped.
//
// Threads   one owner.
// Cost      of sending and of taking, the logarithm of how many are on their way: a binary heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/cache/l2_cache.h"

namespace weft::sim {

enum class EventKind : uint8_t {
  kToCore,  // a line that L2 granted is at the core
  kLookUp,  // L2 has looked a core's request up
  kFill,    // memory's line is at L2
  kPush,    // likewise: a prefetched one
  kRead,    // L2's request is at the controller
  kWrite,
  kMark,   // a core's is at the controller
  kAsked,  // the request of a prefetching unit is at the line's controller
};

struct Event {
  Time time = 0;
  uint64_t order = 0;      // set by the queue
  L2Request request = {};  // of kWrite and the prefetches, only its line counts
  uint32_t index = 0;      // of kMark, kAsked: what it carries
  EventKind kind = EventKind::kToCore;
  uint8_t at = 0;            // core, bank or channel
  bool from_memory = false;  // of kToCore
};

class EventQueue {
 public:
  bool is_empty() const { return events_.empty(); }
  Time next() const { return events_.empty() ? kNever : events_.front().time; }
  void Send(Event event) {
    event.order =
        static_cast<uint64_t>(event.kind) << 60 | static_cast<uint64_t>(event.at) << 52 | sent_++;
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), IsLater);
  }
  // REQUIRES: !is_empty()
  Event Take() {
    std::pop_heap(events_.begin(), events_.end(), IsLater);
    const Event event = events_.back();
    events_.pop_back();
    return event;
  }

 private:
  static bool IsLater(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }

  std::vector<Event> events_;
  uint64_t sent_ = 0;
};

}  // namespace weft::sim
