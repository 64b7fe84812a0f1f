// compat/leveldb/own_objects.h: tells which objects that a program hands back are of our making,
// and what of ours is inside: those need no adapter around them.
//
// A program may be built without run-time type information, so its objects cannot be asked.
//
// Threads   any thread may make any call at any time.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace weft::compat {

template <typename Api, typename Native>
class OwnObjects {
 public:
  void Add(const Api* object, std::shared_ptr<Native> inside) {
    base::MutexLock lock(&mutex_);
    inside_.insert_or_assign(object, std::move(inside));
  }
  void Remove(const Api* object) {
    base::MutexLock lock(&mutex_);
    inside_.erase(object);
  }
  // Null if we did not make it.
  std::shared_ptr<Native> Find(const Api* object) {
    base::MutexLock lock(&mutex_);
    const auto found = inside_.find(object);
    return found == inside_.end() ? nullptr : found->second;
  }

 private:
  base::Mutex mutex_;
  std::unordered_map<const Api*, std::shared_ptr<Native>> inside_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::compat
