// net/room.h: bounds the bytes that the buffers of all connections hold together, and queues those
// that wait for some.
//
// One Room counts the half requests of all loops of a server, another one their unsent replies. A
// connection's part in it is a Holder. Whoever finds no room queues for what it needs.
//
//   common   for everybody, in the queue's order
//   lane     beside it, for holders that have proved themselves, as the user of Holder judges. So
//            a crowd of strangers that come and then do nothing keeps no old client waiting. A
//            holder that finds it taken queues for it and for the common room. A fifth is left to
//            those that hold no more than an eighth; while others wait for it, they have no more
//   newcomers' lane
//            beside both, for one holder at a time: the latest newcomer whose need fits it, if the
//            common room has none for it. So holders that use their room slowly keep no newcomer
//            waiting. Its holder gets more of it before others get any
//
// Leaving   Bytes of the lane that a holder keeps for too long are counted as common bytes, as
//           these become free and before anybody is given them. Then others have the lane again.
// Order     by rank, least first. With Options::newest_too every second grant goes to the latest
//           newcomer: it need not wait until all before it have been served. A holder that was
//           given room before and has not used it up is no newcomer. The room that the next one
//           needs is kept for it: nobody behind it is served before.
// Progress  if all that is taken is held by those that wait, the next one is served, whatever it
//           needs. So is one that needs more than there is, once nobody else holds any. With
//           Options::waiters_drain only once nobody holds any at all.
// Threads   any. A Holder belongs to one thread at a time, except for what the Room does to it
//           under its mutex. A Client's `ring` is called under the mutex by any thread that gives
//           room back, and must not call the Room.
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
    // Above this many common bytes the room is tight: whoever holds none yet should ask first.
    size_t tight_bytes = size_t{48} << 20;
    bool newest_too = false;
    // Whoever waits can still give back what it holds (unsent replies drain, half requests don't).
    // Then its bytes count like everybody else's.
    bool waiters_drain = false;
  };

  class Client;
  class Holder;

  // The part of the lane that a proven holder takes, if there is a lane: by rank, least first.
  struct OfLane {
    size_t bytes = 0;  // 0: it has not proved itself
    uint64_t rank = 0;
  };

 private:
  enum class Part : uint8_t { kCommon, kLane, kNewcomersLane };
  using Queue = std::multimap<uint64_t, Holder*>;  // by rank

 public:
  // The bytes that one connection has taken. Must have left and given back all before it ends.
  class Holder {
   public:
    size_t taken() const { return taken_; }
    // Since its last grant of the lane; a moment old while it leaves.
    bool in_lane() const { return in_lane_; }
    bool in_newcomers_lane() const { return newcomer_ != 0; }
    bool waits() const { return client_ != nullptr; }
    void* owner = nullptr;

   private:
    friend class Room;
    // Written by its owner's thread alone, under the room's mutex.
    size_t taken_ = 0;
    size_t newcomer_ = 0;  // part of taken_
    bool in_lane_ = false;
    Client* client_ = nullptr;
    // Under the room's mutex.
    size_t lane_ = 0;  // part of taken_
    bool leaves_lane_ = false;
    size_t need_ = 0;
    size_t lane_need_ = 0;
    Queue* lane_queue_ = nullptr;  // null: it does not queue for the lane
    bool granted_ = false;
    Part granted_part_ = Part::kCommon;
    Queue::iterator place_;
    Queue::iterator lane_place_;
    uint64_t arrival_ = 0;  // its place among the newcomers; 0: it is none
  };

  // A loop, which waits on behalf of its holders.
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

  // Takes `n` bytes more if they are free and nobody waits for them; otherwise `of_lane` bytes of
  // the lane. 0: it has not proved itself.
  bool TryTake(Holder& holder, size_t n, size_t of_lane) WEFT_EXCLUDES(mutex_);
  // Takes them in any case, because they are in use.
  void Take(Holder& holder, size_t n) WEFT_EXCLUDES(mutex_);
  // REQUIRES: n <= holder.taken()
  void GiveBack(Holder& holder, size_t n) WEFT_EXCLUDES(mutex_);
  // Takes or gives back until the holder has `n`.
  void SetTaken(Holder& holder, size_t n) {
    if (n > holder.taken()) Take(holder, n - holder.taken());
    if (n < holder.taken()) GiveBack(holder, holder.taken() - n);
  }

  // Queues for `n` bytes more, or for those of the lane, whichever comes first. The client's bell
  // rings when the holder has them.
  // REQUIRES: !holder.waits()
  void Wait(Holder& holder, size_t n, uint64_t rank, Client* client, bool is_newcomer,
            OfLane of_lane) WEFT_EXCLUDES(mutex_);
  void Wait(Holder& holder, size_t n, uint64_t rank, Client* client, bool is_newcomer = true)
      WEFT_EXCLUDES(mutex_) {
    Wait(holder, n, rank, client, is_newcomer, OfLane());
  }
  // It has kept the lane for too long, or would. Its part of the lane becomes room like any other,
  // and it waits for the lane no more.
  void LeaveLane(Holder& holder) WEFT_EXCLUDES(mutex_);
  // Waits no more, and gives back what it was given since.
  void Leave(Holder& holder) WEFT_EXCLUDES(mutex_);
  // Holders of the client that wait no more, because they have got what they queued for.
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
  // somebody is served beyond the bound.
  bool MayGiveLocked(size_t n) const WEFT_REQUIRES(mutex_) {
    const size_t bound_to_wait = options_.waiters_drain ? 0 : queue_holds_;
    return common_ == bound_to_wait || (n <= options_.bytes && common_ <= options_.bytes - n);
  }
  // Whether this many bytes of the lane are few.
  bool IsFew(size_t of_lane) const { return of_lane <= options_.lane_bytes / 8; }
  bool FitsLaneLocked(const Holder& holder, size_t n) const WEFT_REQUIRES(mutex_);
  // A holder's part of the lane changes from `had` to `has` bytes.
  void ChangeLaneLocked(size_t had, size_t has) WEFT_REQUIRES(mutex_);
  void SetLaneLocked(Holder& holder, size_t n) WEFT_REQUIRES(mutex_);
  void FreeLaneLocked() WEFT_REQUIRES(mutex_);
  void CountLocked() WEFT_REQUIRES(mutex_);
  void LeaveLaneQueueLocked(Holder& holder) WEFT_REQUIRES(mutex_);
  void DequeueLocked(Holder& holder) WEFT_REQUIRES(mutex_);
  void GrantLocked() WEFT_REQUIRES(mutex_);
  void CountGrantLocked(const Holder& holder, bool given) WEFT_REQUIRES(mutex_);
  Holder* NextLocked(Part* part) WEFT_REQUIRES(mutex_);
  Holder* NextOfLaneLocked() WEFT_REQUIRES(mutex_);
  Holder* NextNewcomerLocked() WEFT_REQUIRES(mutex_);

  const Options options_;
  base::Mutex mutex_;
  size_t common_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t lane_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t lane_of_many_ WEFT_GUARDED_BY(mutex_) = 0;  // of that, held by those with many
  size_t newcomer_ WEFT_GUARDED_BY(mutex_) = 0;
  size_t queue_holds_ WEFT_GUARDED_BY(mutex_) = 0;  // of common_: held by the queued ones
  Queue queue_ WEFT_GUARDED_BY(mutex_);
  // The proven ones of the queue, by what they would hold of the lane.
  Queue lane_few_ WEFT_GUARDED_BY(mutex_);
  Queue lane_many_ WEFT_GUARDED_BY(mutex_);
  std::vector<Holder*> leaving_ WEFT_GUARDED_BY(mutex_);               // the lane
  std::map<uint64_t, Holder*> newcomers_ WEFT_GUARDED_BY(mutex_);      // of the queue, by arrival
  std::map<uint64_t, Holder*> fit_newcomers_ WEFT_GUARDED_BY(mutex_);  // whose need fits their lane
  Holder* newcomer_holder_ WEFT_GUARDED_BY(mutex_) = nullptr;          // while newcomer_ is not 0
  uint64_t arrivals_ WEFT_GUARDED_BY(mutex_) = 0;
  bool newest_next_ WEFT_GUARDED_BY(mutex_) = false;

  // Relaxed: hints for threads that do not hold the mutex.
  std::atomic<bool> tight_{false};
  std::atomic<size_t> waiting_{0};
  std::atomic<size_t> used_{0};
};

// Shared by the loops of a server.
struct Rooms {
  Room input{Room::Options()};                        // half requests
  Room output{Room::Options{.waiters_drain = true}};  // unsent replies
};

}  // namespace weft::net
