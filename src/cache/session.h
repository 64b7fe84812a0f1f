// cache/session.h: one thread's (or one batch's) way into the store.
//
// Begin() enters the epoch and takes the views that stay the same until End(): the clock, the
// index, the log. Every pointer that the store returns is valid between the two.
//
// A session that may change the index is in a second epoch as well. So whoever follows the changes
// (processor/mirror/mirror.h) waits only for sessions that may be making some, not for a batch that
// waits for a device. Begin enters both epochs; BeginReading enters the first, and BeginChanging
// the second, later. While somebody follows, the session also has a ring, in which it announces the
// changes that its thread makes: index_to_change. ChangesDone says now and then that they have been
// made, so that they are not copied again and again; End says so, too.
//
// Threads   one at a time. Its counters may be read by any.
#pragma once

#include <cstdint>
#include <utility>

#include "base/counter.h"
#include "cache/epoch.h"
#include "cache/eviction_watch.h"
#include "cache/holes.h"
#include "task/index.h"
#include "task/log.h"
#include "task/object.h"

namespace weft::cache {

class Store;

using base::Counter;

struct SessionCounters {
  Counter evictions;       // live objects dropped for room
  Counter evicted_unread;  // of those, never read
  Counter expired;         // objects that ended by their time to live, seen when freed
  Counter expired_unread;
  Counter ghosts_stored;  // stored again soon after they were dropped (cache/ghosts.h)
  Counter young_hits;     // of one hit in 64: those of the young generation
  Counter main_hits;      // and of the main one
  Counter carried;        // objects copied out of a victim
  Counter segments_freed;
  Counter victim_looks;  // looks at objects of victims (cache/emptying.h)
  Counter room_made;     // times a store had to wait for room
  Counter retries;       // mutations that lost a race and went round again
  Counter overwritten;   // sets that cache/overwrite.h carried out

  void AddAll(const SessionCounters& other) {
    for (Counter SessionCounters::*counter :
         {&SessionCounters::evictions, &SessionCounters::evicted_unread, &SessionCounters::expired,
          &SessionCounters::expired_unread, &SessionCounters::ghosts_stored,
          &SessionCounters::young_hits, &SessionCounters::main_hits, &SessionCounters::carried,
          &SessionCounters::segments_freed, &SessionCounters::victim_looks,
          &SessionCounters::room_made, &SessionCounters::retries, &SessionCounters::overwritten})
      (this->*counter).Add((other.*counter).value());
  }
};

class Session {
 public:
  // A place in each of the two epochs.
  struct Slots {
    Epochs::Slot* reading = nullptr;
    Epochs::Slot* changing = nullptr;
  };

  // REQUIRES: the store outlives it. `slots` were claimed for it.
  Session(Store* store, const Slots& slots, uint32_t lane);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Enters the epochs; REQUIRES: outside. End leaves them.
  void Begin();
  void End();
  // For a batch that will only read until BeginChanging. REQUIRES: outside
  void BeginReading();
  // REQUIRES: inside. Does nothing if it has begun already.
  void BeginChanging();
  // Takes the log's view anew within the epoch, after a flush. The index's view stays, because
  // positions that the batch has noted refer to it.
  void RefreshLog();

  // For whoever goes on using what the session's batch has seen after the session ends. The place
  // in the first epoch becomes the caller's, to be released there, and the session takes another.
  // Null: there is none left. REQUIRES: inside; the place is kept until the batch has ended, too
  Epochs::Slot* GiveAwayPlace();

  bool inside() const { return inside_; }
  Store& store() const { return *store_; }
  uint32_t lane() const { return lane_; }
  uint32_t now_s() const { return now_s_; }
  // For looking, and for jobs of any processor.
  const task::IndexRef& index() const { return index_; }
  // The same for changing the index on the session's own thread.
  task::IndexRef index_to_change() const {
    task::IndexRef index = index_;
    index.changes = ring_;
    return index;
  }
  // REQUIRES: each change that index_to_change announced was made, or never will be
  void ChangesDone() {
    if (ring_ != nullptr) task::NoteChangesDone(ring_);
  }
  const task::LogRef& log() const { return log_; }
  task::Object* ObjectAt(uint64_t location) const { return task::ObjectAt(log_, location); }
  // The object at `location` no longer counts, and is marked (kAccessDead): it was taken out of the
  // index, or laid and never put in. REQUIRES: in the epoch in which that was done
  void ReleaseObject(uint64_t location);
  // The same of an object that was replaced, whose place may be filled later. REQUIRES: as before
  void ReplaceObject(uint64_t location);
  // The same, of one that is known to leave this hole, and whose version was not shown.
  void KeepHole(const Hole& hole);
  // A place for an object of so many units that never expires, of one that was replaced (cache/
  // holes.h). It counts as live. 0: there is none. REQUIRES: within the epochs
  uint64_t TakeHole(uint32_t units, Generation generation);
  const Holes& holes() const { return holes_; }
  // Asks for the lines of the one that comes next, to write them.
  void PrefetchNextHole(uint32_t units, Generation generation) const;
  // Of the holes that it keeps; they count as live. For any thread.
  uint64_t hole_units() const { return hole_units_.value(); }
  // For a session that will rest. REQUIRES: outside
  void GiveUpHoles();

  // The first of `count` numbers in a row, one for each access (task::WantsAccessNote). No other
  // call returns them for a long time.
  uint32_t NextDice(uint32_t count = 1) { return std::exchange(dice_, dice_ + count); }

  // Counts the hit of an object at `location` by its generation, if the dice say so.
  static bool CountsHit(uint32_t dice) { return dice % 64 == 0; }
  void CountHit(uint64_t location);

  // Entries that this session added, less those it removed. They are added to the store's count, by
  // which the index grows and drops, at End or when there are some.
  void AddItems(int64_t n) {
    items_delta_ += n;
    if (items_delta_ >= kItemsUncounted || items_delta_ <= -kItemsUncounted) CountItems();
  }
  // Bytes of objects that this session appended since TakeAppended.
  void AddAppended(uint64_t bytes) { appended_bytes_ += bytes; }
  uint64_t appended_bytes() const { return appended_bytes_; }
  uint64_t TakeAppended() { return std::exchange(appended_bytes_, 0); }
  // Bytes of objects that this session ever copied out of victims.
  void AddCarried(uint64_t bytes) { carried_bytes_ += bytes; }
  uint64_t carried_bytes() const { return carried_bytes_; }
  // Told of what this session evicts; it must outlive the session. Null: nobody is.
  void set_eviction_watch(EvictionWatch* watch) { eviction_watch_ = watch; }
  EvictionWatch* eviction_watch() const { return eviction_watch_; }
  SessionCounters& counters() { return counters_; }
  // An object that ended has left its entry, to a successor or to nobody.
  void NoteEnded(const task::Object* object) {
    counters_.expired.Add(1);
    const bool unread = (task::LoadRelaxed32(&object->access) & kAccessFetched) == 0;
    if (unread) counters_.expired_unread.Add(1);
  }
  const SessionCounters& counters() const { return counters_; }

 private:
  static constexpr int64_t kItemsUncounted = 32;
  static constexpr size_t kGivenUpPerBatch = 64;
  static constexpr size_t kGivenUpForRoom = 2;
  static constexpr uint32_t kLooksForHole = 16;

  void TakeViews();
  void CountItems();
  void MarkDead(task::Object* object);
  void GiveUp(const Hole& hole);
  void GiveUpSome(size_t count);

  Store* const store_;
  Slots slots_;
  const uint32_t lane_;

  // Owned by the thread.
  bool inside_ = false;
  bool changing_ = false;
  uint32_t now_s_ = 0;
  uint32_t dice_ = 0;
  int64_t items_delta_ = 0;
  uint64_t appended_bytes_ = 0;
  uint64_t carried_bytes_ = 0;
  Holes holes_;
  Counter hole_units_;
  task::IndexRef index_{};
  task::LogRef log_{};
  task::ChangeRing* ring_ = nullptr;  // the store's; null: nobody has followed yet
  SessionCounters counters_;
  EvictionWatch* eviction_watch_ = nullptr;
};

// A batch that lasts as long as a scope, even if an exception ends it: a session that stayed in the
// epochs would keep memory from all others.
class InBatch {
 public:
  explicit InBatch(Session& session) : session_(session) { session_.Begin(); }
  ~InBatch() {
    if (session_.inside()) session_.End();  // whoever waits for room is outside meanwhile
  }
  InBatch(const InBatch&) = delete;
  InBatch& operator=(const InBatch&) = delete;

 private:
  Session& session_;
};

}  // namespace weft::cache
