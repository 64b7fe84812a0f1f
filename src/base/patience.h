// base/patience.h: tries again for about a second to get what a dying process still holds.
//
// The system takes a killed process apart bit by bit. Its parent may see it end while its ports,
// sockets and locks are still taken (io_uring keeps sockets for a moment longer). Whoever starts
// the next server at once should not be refused for that.
//
//   for (base::Patience patience; failed && patience.Wait();) failed = ...;
//
// Threads   one; Wait sleeps.
// Cost      1,023 ms in ten growing waits, if all of them are needed.
#pragma once

#include <chrono>
#include <thread>

namespace weft::base {

class Patience {
 public:
  // Sleeps a while and returns true; false, at once, when patience is at its end.
  bool Wait() {
    if (next_ > kLongest) return false;
    std::this_thread::sleep_for(next_);
    next_ *= 2;
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds kLongest{512};

  std::chrono::milliseconds next_{1};
};

}  // namespace weft::base
