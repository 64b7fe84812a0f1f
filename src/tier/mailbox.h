// tier/mailbox.h: where answered lookups are left for one worker.
//
// Threads   any.
// Lock      its own, a leaf; not held while it rings.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "tier/answer_room.h"
#include "tier/lookup.h"

namespace weft::tier {

class Mailbox {
 public:
  struct Letter {
    uint64_t id = 0;  // the asker's own: a connection that may be gone by now
    std::unique_ptr<Lookup> lookup;
    uint64_t finish = 0;  // LookupPool::Ask takes it with the asker's next lookup
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

}  // namespace weft::tier
