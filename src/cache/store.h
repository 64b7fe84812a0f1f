// cache/store.h: the in-memory store: index and object log behind commands about keys.
//
// Every mutation is one mechanism: append the new object, then compare-and-swap the key's slot from
// the old location to the new. Whoever loses the swap looks again and decides anew. So every
// command is atomic for its key, on any number of threads, without a lock across two keys.
//
// Use       auto session = store->NewSession();
//           session->Begin(); reply = store->Execute(*session, command); ...; session->End();
//           store->Maintain(*session);
//           A reply with needs_room asks the caller to End, MakeRoom, Begin and execute again.
// Threads   Execute and the like: any number, each with its own session.
// Lock      none of its own; Index's and ObjectLog's (docs/concurrency.md).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "cache/carry_account.h"
#include "cache/change_rings.h"
#include "cache/command.h"
#include "cache/eviction_ages.h"
#include "cache/ghosts.h"
#include "cache/index.h"
#include "cache/key_hasher.h"
#include "cache/object_log.h"
#include "cache/object_writer.h"
#include "cache/session.h"
#include "task/search.h"

namespace weft::cache {

class Emptying;

// What a batch already knows of a command when it is executed.
struct Hint {
  bool searched = false;  // `found` is the key's entry, or none, as task KC found it
  task::Found found{nullptr, 0};
  uint64_t placed = 0;  // task MM: where a plain set's object lies
  // A key without an entry, or with a flushed one, may be in the tier below (tier/disk_tier.h).
  // Then nothing that depends on it is decided, and the reply says `below`.
  bool maybe_below = false;
};

class Store {
 public:
  // `source`: where index and log lie; it must outlive the store. `objects`: where the log's
  // objects lie, if elsewhere. Then the log's geometry depends on memory_bytes and object_bytes_max
  // alone.
  static Result<std::unique_ptr<Store>> Open(const CacheOptions& options,
                                             PageSource* source = SystemPages(),
                                             PageSource* objects = nullptr);
  ~Store();

  const CacheOptions& options() const { return options_; }
  // Appends to its own lane, as far as there are enough. A session of the same thread as `beside`
  // shares that one's lane: two threads in a lane write to each other's lines. It has
  // the same eviction watch. Null when Epochs::kSlotsMax sessions exist.
  std::unique_ptr<Session> NewSession(const Session* beside = nullptr)
      WEFT_EXCLUDES(sessions_mutex_);

  uint64_t HashOf(std::string_view key) const { return hasher_(key); }

  // Carries a command out. REQUIRES: `session` is inside; command.hash is HashOf(command.key).
  // The hint may not be used again.
  Reply Execute(Session& session, const Command& command, Hint* hint);
  Reply Execute(Session& session, const Command& command) {
    Hint none;
    return Execute(session, command, &none);
  }

  // Task MM: writes the object of a plain set (no condition, no version asked for) into the log
  // before its turn comes. 0: there is no room now. `access`: kAccess bits to start with.
  uint64_t Place(Session& session, const Command& command, uint32_t access = 0);
  // The grave of a plain delete (task/query_job.h), which a batch lays for it and abandons before
  // the batch ends. 0: the delete is not plain, or there is no room now.
  uint64_t PlaceGrave(Session& session, const Command& command);
  // A job put what was placed in the place of `old`, or entered it (0): it bears on what a client
  // may have been shown (kAccessCasOnce). REQUIRES: within the epoch in which that was done
  void InheritMark(Session& session, const Command& command, uint64_t old, uint64_t placed);
  // Gives up an object that was placed and will not be published.
  void Abandon(Session& session, uint64_t location);
  // Enters an object that the tier below holds and that has no entry here, or a flushed one.
  // Returns its location; 0: there is no room now, or it is larger than an object may be.
  // REQUIRES: the caller keeps other writers from the key; `hash` is HashOf(spec.key).
  uint64_t Load(Session& session, const ObjectSpec& spec, uint64_t hash);
  // From now on every object carries its version, which stays the same however the object moves.
  // Versions begin at `first_version`. Call it before any session exists.
  void KeepVersions(uint64_t first_version);
  bool keeps_versions() const { return keeps_versions_; }
  // Overwriting fills places of replaced objects while nothing live is evicted (cache/holes.h), if
  // something may be evicted at all. Call it before anything is stored. REQUIRES: no mirror, device
  // or tier works on the store
  void AllowFilling() {
    if (options_.evict && !keeps_versions_) log_->AllowFilling();
  }
  bool is_filling() const { return log_->is_filling(); }
  HoleBudget& hole_budget() { return hole_budget_; }
  // Where nothing is evicted, flags and an expiry have their room from the beginning, too.
  bool keeps_all_fields() const { return !options_.evict; }

  // Between batches: frees segments ahead of need, expires, grows the index. Cheap when idle.
  // `writes` bounds the work: about that many objects were stored since the last call. A victim is
  // emptied over several calls, of any sessions. `now_s`: base::NowSeconds(), or the time of a
  // batch that has just ended, which saves a clock read.
  // REQUIRES: `session` is outside.
  void Maintain(Session& session, uint32_t writes, uint32_t now_s);
  void Maintain(Session& session, uint32_t writes);
  // Frees room for an object of `bytes`. False: nothing may be freed. `spared`: location of an
  // object whose segment this session does not evict; 0: none.
  // REQUIRES: `session` is outside.
  bool MakeRoom(Session& session, uint64_t bytes, Room room = Room::kNew, uint64_t spared = 0);
  // The same for the room that the reply to a command asked for (Reply::needs_room).
  bool MakeRoomFor(Session& session, const Reply& reply) {
    return MakeRoom(session, reply.object_bytes, reply.replaces ? Room::kReplacing : Room::kNew,
                    reply.spared);
  }

  // Empties the store, at once or when the clock reaches `at_s` (0: now). Later commands of a
  // session's batch see the empty store (the session is refreshed).
  void Flush(Session& session, uint32_t at_s);

  // The second for which a flush is asked; 0: none. SetFlushAt: of an earlier process.
  uint32_t flush_at_s() const { return flush_at_s_.load(); }
  void SetFlushAt(uint32_t at_s) { flush_at_s_.store(at_s); }
  // Takes another index, of at least so many buckets, instead of the first. REQUIRES: nothing was
  // stored yet, and neither session, device nor tier uses the store
  Status ResizeEmptyIndex(uint64_t buckets);

  // Changes the memory limit. kInvalidArgument below what the tables need.
  Status SetMemoryLimit(uint64_t bytes);
  uint64_t memory_limit() const { return memory_limit_.load(std::memory_order_relaxed); }

  // Running mean of stored object sizes, for prefetching. If all have one size, that size.
  uint32_t expected_object_bytes() const {
    return static_cast<uint32_t>(expected_bytes_16ths_.load(std::memory_order_relaxed) / 16);
  }

  CacheStats Stats() const WEFT_EXCLUDES(sessions_mutex_);
  // Adds the counters of all sessions, including past ones, to `total`.
  void SumCounters(SessionCounters* total) const WEFT_EXCLUDES(sessions_mutex_);
  uint64_t index_bytes() const { return index_->table_bytes(); }
  bool index_growing() const { return index_->growing(); }

  // For sessions and the operations beside this file.
  ObjectLog& log() { return *log_; }
  Index& index() { return *index_; }
  CarryAccount& carry_account() { return *carry_account_; }
  // For large objects that stay where they are.
  CarryAccount& stay_account() { return *stay_account_; }
  Ghosts& ghosts() { return *ghosts_; }
  // A device that was left may enter an object that was taken out of the index since, or replace
  // one by itself. From now on, entries are looked for even if the object is marked dead.
  void DistrustDeadMarks() { trusts_dead_marks_.store(false); }
  bool trusts_dead_marks() const { return trusts_dead_marks_.load(); }
  EvictionAges& eviction_ages() { return eviction_ages_; }
  Epochs& epochs() { return epochs_; }
  // The epochs of those that may be changing the index (cache/session.h).
  Epochs& change_epochs() { return change_epochs_; }
  // The rings in which they announce their changes while somebody follows.
  ChangeRings& change_rings() { return change_rings_; }
  uint64_t ItemCount() const;
  void CountItems(int64_t delta) { items_.fetch_add(delta, std::memory_order_relaxed); }
  void Forget(Session* session) WEFT_EXCLUDES(sessions_mutex_);
  void NoteStoredBytes(uint64_t location, uint32_t bytes);
  // Whether an object is much larger than the mean of those in the log. Readers miss objects, not
  // bytes: of two objects that are missed equally, the smaller one should stay.
  bool IsLarge(uint64_t bytes) const {
    const uint64_t log_bytes = log_->segments_in_use_max() * log_->geometry().segment_bytes;
    return bytes * ItemCount() > log_bytes * kLargeByMean;
  }
  // Of all objects that were ever appended, including key and header.
  uint32_t largest_stored_bytes() const {
    return largest_stored_bytes_.load(std::memory_order_relaxed);
  }
  // Whether a new entry as a rule displaces one from a full set: with policy kSetAssociative,
  // unless sets are full because the index is about to grow.
  bool DropsFromFullSets() const;
  // Whether an entry may go because the index cannot grow now, or growing would not help.
  bool MayDropEntry() const;
  // Carries out a flush whose second has come.
  void FlushIfDue(uint32_t now_s) {
    const uint32_t due = flush_at_s_.load(std::memory_order_relaxed);
    if (due != 0 && due <= now_s) FlushDue(due);
  }
  // An insert found both buckets full: the index should grow, if that can help.
  void AskForGrowth() { growth_wanted_.store(true, std::memory_order_relaxed); }

 private:
  Store(const CacheOptions& options, const base::KeyedHash& hash, PageSource* source);
  Status OpenIndex(uint64_t buckets);
  Status Init(PageSource* objects);
  // grow.cc
  void GrowIndex(Session& session, uint32_t writes);
  uint64_t BucketsForFullMemory() const;
  uint64_t NextBucketCount() const;
  void StartGrowthIfCrowded() WEFT_EXCLUDES(budget_mutex_);
  void GrowGhosts() WEFT_EXCLUDES(budget_mutex_);
  void FlushDue(uint32_t due);
  // The result of an attempt to free one segment.
  enum class Freed : uint8_t {
    kOne,      // a segment is retired, or a used one moved in its queue: go on
    kNoneNow,  // other threads hold what could be freed
    kNothing,  // nothing may be freed
  };
  // The most segments that were free while room was made, and what the session had copied then.
  struct Gain {
    uint32_t free;
    uint64_t carried_bytes;
  };
  bool IsInVain(const Session& session, Gain* gain) const;
  // evict.cc
  Freed EvictOne(Session& session, bool only_ended, uint32_t spared = 0)
      WEFT_EXCLUDES(unfinished_mutex_);
  // Does the share of a batch that stored `writes` objects.
  void EvictAhead(Session& session, uint32_t writes) WEFT_EXCLUDES(unfinished_mutex_);
  // The emptying part of it, for `writes` objects of the mean size in the log. False: there was
  // nothing to do.
  bool EvictPortion(Session& session, uint64_t writes, uint32_t spared = 0)
      WEFT_EXCLUDES(unfinished_mutex_);
  void ExpireWhenDue(Session& session, uint32_t now_s);
  std::unique_ptr<Emptying> TakeUnfinished(bool only_ended) WEFT_EXCLUDES(unfinished_mutex_);
  void LeaveUnfinished(std::unique_ptr<Emptying> emptying) WEFT_EXCLUDES(unfinished_mutex_);
  std::unique_ptr<Emptying> BeginEmptying(bool only_ended, uint32_t spared, Freed* freed);
  Freed FinishEmptying(Session& session, const Emptying& emptying);
  void FollowLogTables() WEFT_EXCLUDES(budget_mutex_);
  void UpdateLogBudget() WEFT_EXCLUDES(budget_mutex_);
  void SetLogBudgetLocked(uint64_t index_bytes) WEFT_REQUIRES(budget_mutex_);
  uint64_t LogBudgetBytes(uint64_t index_bytes) const;
  uint64_t MemoryBytes() const;
  uint64_t LiveBytes() const WEFT_EXCLUDES(sessions_mutex_);

  static constexpr uint64_t kLargeByMean = 3;
  static constexpr uint64_t kHolesShare = 128;  // of the memory, for all sessions' holes

  // Constant after construction.
  const CacheOptions options_;
  const KeyHasher hasher_;
  PageSource* const source_;
  bool keeps_versions_ = false;  // KeepVersions

  // Provides its own synchronisation.
  Epochs epochs_;
  Epochs change_epochs_;
  HoleBudget hole_budget_;
  ChangeRings change_rings_;
  std::unique_ptr<Index> index_;
  std::unique_ptr<ObjectLog> log_;
  std::unique_ptr<CarryAccount> carry_account_;
  std::unique_ptr<CarryAccount> stay_account_;
  std::unique_ptr<Ghosts> ghosts_;
  EvictionAges eviction_ages_;
  std::atomic<uint64_t> memory_limit_{0};
  std::atomic<bool> trusts_dead_marks_{true};
  std::atomic<uint64_t> held_epoch_{0};  // a batch stayed in it longer than MakeRoom waits
  std::atomic<uint32_t> flush_at_s_{0};  // every batch reads it, so not beside what batches write
  std::atomic<uint64_t> ghosts_planned_bytes_{0};  // the log has room for these; or is making it
  std::atomic<uint64_t> log_table_bytes_{0};       // those that the log's budget allows for
  std::atomic<bool> growth_planned_{false};        // the log is making room for the next table
  std::atomic<uint32_t> largest_stored_bytes_{0};  // relaxed: read by every append
  alignas(64) std::atomic<int64_t> items_{0};
  std::atomic<uint64_t> expected_bytes_16ths_{64 * 16};  // relaxed: a hint
  std::atomic<uint32_t> expiry_checked_s_{0};
  std::atomic<bool> growth_wanted_{false};
  std::atomic<uint32_t> next_lane_{0};

  // Held while the log's budget is computed: before the locks of Index and ObjectLog.
  base::Mutex budget_mutex_;

  // Victims that are emptied in part and that no session is at work on: evict.cc. No other lock is
  // taken under it.
  base::Mutex unfinished_mutex_;
  std::vector<std::unique_ptr<Emptying>> unfinished_ WEFT_GUARDED_BY(unfinished_mutex_);

  mutable base::Mutex sessions_mutex_;
  std::vector<Session*> sessions_ WEFT_GUARDED_BY(sessions_mutex_);
  SessionCounters retired_counters_;  // of past sessions; written under sessions_mutex_
};

// Executes a command. While there is no room for it, leaves the epoch, makes room and tries again.
// If it returns with reply.made_room, pointers taken before it are no longer valid.
// REQUIRES: `session` is inside.
Reply ExecuteWithRoom(Session& session, const Command& command);

}  // namespace weft::cache
