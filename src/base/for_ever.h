// base/for_ever.h: keeps what may never be freed, for the rest of the process.
//
// For memory that somebody may still write to whom nobody can stop, as a device that hangs. It is
// not lost: a debugger and a leak checker find it here.
//
// Threads   any.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace weft::base {

inline void KeepForEver(std::shared_ptr<void> thing) {
  static Mutex mutex;
  // Not ended with the process's other variables: the device may outlast those.
  static auto* const kept = std::make_unique<std::vector<std::shared_ptr<void>>>().release();
  MutexLock lock(&mutex);
  kept->push_back(std::move(thing));
}

}  // namespace weft::base
