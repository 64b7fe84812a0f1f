// net/room.h: how many bytes the buffers of all connections may hold together, and who waits for
// some.
//
// One Room counts the half requests of every loop of a server, another one their unsent replies. A
// connection's part in it is a Holder. Whoever finds no room queues for what it needs.
//
//   common   for everybody, in the queue's order
//   lane     beside it, for holders that have proved themselves (Holder user's judgement), so that
//            many strangers that come at once and then do nothing keep no old client waiting. A
//            fifth is left to those that need no more than an eighth
//   newcomers' lane
//            beside both, for one holder at a time: the newcomer that came last of those whose need
//            fits it, where the common room has none for it. Those who use what they hold slowly
//            keep none waiting. Its holder gets more of it before others get any
//
// Order     by rank, least first. With Options::newest_too every second grant goes to the newcomer
//           that came last: it does not wait until all that came before it are through. Whoever has
//           been given room before and has not used it up is no newcomer.
//           What the next one needs is kept for it: nobody behind it is served before.
// Progress  when all that is taken is held by those who wait, the next one is served, whatever it
//           needs: so is one that needs more than there is, once nobody else holds any. With
//           Options::waiters_drain only once nobody holds any at all.
// Threads   any. A Holder belongs to one thread at a time, but for what the Room does to it under
//           its mutex; a Client's `ring` is called by any thread that gives room back, under the
//           mutex, and must not call the Room.
// Cost      one mutex a call; tight, waiting, used are plain loads.
// Design    docs/design/0014-bounds-of-buffers.md
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace weft::net {

class Room {
 public:
  struct Options {
    size_t bytes = size_t{64} << 20;  // common
    size_t lane_bytes = 0;
    size_t newcomer_bytes = 0;  // of the newcomers' lane
    // Above so many common bytes the room is tight: who does not hold some yet should ask first.
    size_t tight_bytes = size_t{48} << 20;
    bool newest_too = false;
    // Whoever waits can still give back what it holds (unsent replies drain, half requests don't):
    // then that counts like everybody else's.
    bool waiters_drain = false;
  };

  class Client;

  // What one connection has taken. Must have left and given back all before it ends.
  class Holder {
   public:
    size_t taken() const { return common_ + lane_ + newcomer_; }
    bool in_newcomers_lane() const { return newcomer_ != 0; }
    bool waits() const { return client_ != nullptr; }
    void* owner = nullptr;

   private:
    friend class Room;
    size_t common_ = 0;
    size_t lane_ = 0;
    size_t newcomer_ = 0;
    // While it waits, under the room's mutex.
    Client* client_ = nullptr;
    size_t need_ = 0;
    bool granted_ = false;
    bool granted_lane_ = false;  // the newcomers'
    std::multimap<uint64_t, Holder*>::iterator place_;
    uint64_t arrival_ = 0;  // its place among the newcomers; 0: it is none
  };

  // Whoever waits on behalf of its holders: a loop.
  class Client {
   public:
    explicit Client(std::function<void()> ring) : ring_(std::move(ring)) {}

   private:
    friend class Room;
    const std::function<void()> ring_;
    std::vector<Holder*> granted_;  // under the room's mutex
  };

  explicit Room(const Options& options) : options_(options) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Takes `n` bytes more if they are free and nobody waits for them. `proven`: of the lane, too.
  bool TryTake(Holder& holder, size_t n, bool proven) WEFT_EXCLUDES(mutex_);
  // Takes them in any case: they are in use.
  void Take(Holder& holder, size_t n) WEFT_EXCLUDES(mutex_);
  // REQUIRES: n <= holder.taken()
  void GiveBack(Holder& holder, size_t n) WEFT_EXCLUDES(mutex_);
  // Takes or gives back until the holder has `n`.
  void SetTaken(Holder& holder, size_t n) {
    if (n > holder.taken()) Take(holder, n - holder.taken());
    if (n < holder.taken()) GiveBack(holder, holder.taken() - n);
  }

  // Queues for `n` bytes more; the client's bell is rung when they are the holder's.
  // REQUIRES: !holder.waits()
  void Wait(Holder& holder, size_t n, uint64_t rank, Client* client, bool is_newcomer = true)
      WEFT_EXCLUDES(mutex_);
  // Waits no more, and gives back what it was given since.
  void Leave(Holder& holder) WEFT_EXCLUDES(mutex_);
  // Holders of the client that wait no more, for what they queued for is theirs.
  std::vector<Holder*> Collect(Client* client) WEFT_EXCLUDES(mutex_);

  bool tight() const { return tight_.load(std::memory_order_relaxed); }
  // How many wait; a moment old.
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  const Options& options() const { return options_; }

 private:
  static bool IsQueued(const Holder& holder) {
    return holder.client_ != nullptr && !holder.granted_;
  }
  // Whether `n` of the common bytes may be given now: they are free, or nothing comes back unless
  // somebody is served beyond what fits.
  bool MayGiveLocked(size_t n) const WEFT_REQUIRES(mutex_) {
    const size_t bound_to_wait = options_.waiters_drain ? 0 : queue_holds_;
    return common_ == bound_to_wait || (n <= options_.bytes && common_ <= options_.bytes - n);
  }
  bool FitsLaneLocked(size_t n) const WEFT_REQUIRES(mutex_);
  void CountLocked() WEFT_REQUIRES(mutex_);
  void DequeueLocked(Holder& holder) WEFT_REQUIRES(mutex_);
  void GrantLocked() WEFT_REQUIRES(mutex_);
  Holder* NextLocked(bool* of_lane) WEFT_REQUIRES(mutex_);
  Holder* NextOfLaneLocked() WEFT_REQUIRES(mutex_);

  const Options options_;
  base::Mutex mutex_;
  size_t common_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t lane_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t newcomer_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t queue_holds_ WEFT_GUARDED_BY(mutex_) = 0;  // of the common bytes, whoever is queued
  std::multimap<uint64_t, Holder*> queue_ WEFT_GUARDED_BY(mutex_);  // by rank
  std::map<uint64_t, Holder*> newcomers_ WEFT_GUARDED_BY(mutex_);   // of the queue, by arrival
  std::map<uint64_t, Holder*> for_lane_ WEFT_GUARDED_BY(mutex_);    // those whose need fits it
  Holder* lane_holder_ WEFT_GUARDED_BY(mutex_) = nullptr;           // while newcomer_ is not 0
  uint64_t arrivals_ WEFT_GUARDED_BY(mutex_) = 0;
  bool newest_next_ WEFT_GUARDED_BY(mutex_) = false;

  // Relaxed: hints for those who do not hold the mutex.
  std::atomic<bool> tight_{false};
  std::atomic<size_t> waiting_{0};
  std::atomic<size_t> used_{0};
};

// What the loops of a server share.
struct Rooms {
  Room input{Room::Options()};                        // half requests
  Room output{Room::Options{.waiters_drain = true}};  // unsent replies
};

}  // namespace weft::net
