// tier/disk_tier.h: the durable store as the tier below the cache: it has every item, the cache
// those in use.
//
// A change takes effect in the cache, is written here, and is answered; its key's stripe is held
// meanwhile (tier/stripes.h). A key without an entry in the cache is looked up here. The cache
// holds the newest version, unless it was flushed: then this tier decides.
//
// Versions  begin where the last process ended; after a crash, at the bound of those it may have
//           given out. The bound is in the store's state: every version written is below it.
// Flush     items carry the generation in which they were written. A flush raises the floor below
//           which they no longer count, and empties the cache, both while nobody holds a stripe. So
//           each change of a key comes before it or after it, in memory and on disk alike.
// Threads   any.
// Lock      flush_mutex_, then the stripes' gate, then a stripe, then state_mutex_, then the
//           durable store's (docs/concurrency.md).
// Errors    the first write or sync that fails is the last: from then on changes are refused
//           (failed()), reads go on. A batch that the store refuses does not count as one. Every
//           read is checked against its checksum; damage is an error, never a miss or another
//           value.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "cache/store.h"
#include "tier/item.h"
#include "tier/lookup.h"
#include "tier/read_errors.h"
#include "tier/stripes.h"
#include "weft/db.h"

namespace weft::tier {

struct TierOptions {
  std::string dir;
  FileSystem* file_system = PosixFileSystem();
  // 0: Sync is asked for after each batch; otherwise a thread syncs at this interval.
  uint32_t sync_ms = 0;
  size_t write_buffer_bytes = size_t{16} << 20;
  size_t block_cache_bytes = size_t{32} << 20;
  std::string compaction_device = "cpu";  // as DbOptions has it
  bool compaction_direct_io = false;      // likewise
  // Called once, from any thread, when the first write fails.
  std::function<void(const Status&)> on_failure = {};
  // Called for each log that lost a part to a power cut, a moment after Open.
  std::function<void(const Status&)> on_loss = {};
  // Called, from any thread, when keys could not be read; once a second at most.
  ReadErrors::Tell on_read_error = {};
};

// Counters since Open, and levels. Units: keys, unless the name says otherwise.
struct TierStats {
  uint64_t lookups = 0;       // keys looked up
  uint64_t lookup_hits = 0;   // of those, found and alive
  uint64_t lookup_ended = 0;  // found, but expired or flushed
  uint64_t lookup_errors = 0;
  uint64_t loads = 0;         // items entered into the cache;
  uint64_t waits = 0;         // times a connection waited for lookups
  uint64_t changes = 0;       // stored or deleted;
  uint64_t batches = 0;       // that these were written in
  uint64_t write_errors = 0;  // batches that could not be written or synced;
  uint64_t generation = 0;    // flushes carried out
  bool failed = false;        // true: changes are refused
  uint64_t disk_bytes = 0;    // of all tables
  std::string level_files;    // "4 10 87": tables a level, to the last that has any
  DbStatistics db;
};

class DiskTier {
 public:
  // Opens or makes the store in options.dir, and has `cache` keep versions from the right one on.
  // kRetryLater: another process has it open, or there are no more descriptors. kInvalidArgument:
  // the store there is not a cache's.
  static Result<std::unique_ptr<DiskTier>> Open(const TierOptions& options, cache::Store* cache);
  // Writes the log out and closes the store.
  ~DiskTier();

  // The number of the store's newest change when it was opened. Memory that was kept from an
  // earlier process agrees with the store only if End returned the same there.
  uint64_t opened_at() const { return opened_at_; }
  // Writes all out, as the destructor does, and returns the number of the newest change. Nothing
  // may be changed from then on. kIoError: a write failed, now or before.
  Result<uint64_t> End();

  const TierOptions& options() const { return options_; }
  Stripes& stripes() { return stripes_; }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // For items written now. REQUIRES: the item's stripe is held until Write has returned.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
  // Whether an item counts: it has not ended and was not flushed. Whoever wants to change it, or
  // enter it into the cache, asks with its stripe held: no flush comes before that is released.
  cache::Miss WhyEnded(const Item& item, uint32_t now_s) const;
  bool IsEnded(const Item& item, uint32_t now_s) const {
    return (item.expiry != 0 && item.expiry <= now_s) ||
           item.generation < floor_.load(std::memory_order_acquire);
  }

  // Hands changes to the system: they survive the end of the process. kInvalidArgument: the store
  // does not take such a batch; nothing has failed.
  Status Write(WriteBatch* changes);
  // Makes all writes survive a power cut.
  Status Sync();

  // Answers as many as lookup->bytes_max() allows, in order, at least the first. Waits for the
  // disk. It never reads much more than that: one value, or small ones.
  void Answer(Lookup* lookup);
  // The same for one key, whose stripe the caller holds.
  void AnswerLocked(Asked* asked);

  // These two empty the cache, too; sessions see it from their next Begin on. REQUIRES: the caller
  // holds no stripe and is in no epoch.
  //
  // Flushes now, or makes a note to where at_s > now_s.
  Status Flush(uint32_t at_s, uint32_t now_s) WEFT_EXCLUDES(flush_mutex_, state_mutex_);
  // Carries out the noted flush, if nobody else has. Once changes are refused it does so only in
  // memory, and the next process does it again: nothing comes after it that it should have spared.
  void FlushDue(uint32_t now_s) WEFT_EXCLUDES(flush_mutex_, state_mutex_);
  bool FlushIsDue(uint32_t now_s) const {
    const uint32_t at_s = flush_at_s_.load(std::memory_order_relaxed);
    return at_s != 0 && at_s <= now_s;
  }

  void CountLoad() { loads_.fetch_add(1, std::memory_order_relaxed); }
  void CountWait() { waits_.fetch_add(1, std::memory_order_relaxed); }
  void CountLookup(bool ended) {
    (ended ? lookup_ended_ : lookup_hits_).fetch_add(1, std::memory_order_relaxed);
  }
  TierStats Stats() const;

 private:
  class FailureListener;
  DiskTier(const TierOptions& options, cache::Store* cache);
  DbOptions MakeDbOptions();
  Status OpenDb();
  Status ReadState() WEFT_EXCLUDES(state_mutex_);
  Status WriteStateLocked(const State& state) WEFT_REQUIRES(state_mutex_);
  // `in_memory_at_least`: even if it can't be written.
  Status FlushLocked(bool in_memory_at_least) WEFT_REQUIRES(flush_mutex_)
      WEFT_EXCLUDES(state_mutex_);
  Status NoteFlushLocked(uint32_t at_s) WEFT_REQUIRES(flush_mutex_) WEFT_EXCLUDES(state_mutex_);
  Status WriteFloor(uint32_t floor) WEFT_EXCLUDES(state_mutex_);
  Status KeepVersionsBelowBound() WEFT_EXCLUDES(state_mutex_);
  Status RaiseVersionBound() WEFT_EXCLUDES(state_mutex_);
  uint64_t Sequence() const;
  void StopSyncing() WEFT_EXCLUDES(syncer_mutex_);
  Status EndVersions() WEFT_EXCLUDES(state_mutex_);
  Status Note(Status status);
  void Take(DbLookup* lookup, Asked* asked);
  void SyncInBackground() WEFT_EXCLUDES(syncer_mutex_);

  // Constant after Open.
  const TierOptions options_;
  cache::Store* const cache_;
  std::unique_ptr<Db> db_;
  bool has_state_ = false;  // it is a cache's, and may be written to
  uint64_t opened_at_ = 0;

  // Provides its own synchronisation.
  Stripes stripes_;
  std::atomic<bool> failed_{false};
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> floor_{0};
  std::atomic<uint32_t> flush_at_s_{0};
  std::atomic<uint64_t> version_bound_{0};      // as written
  std::atomic<uint64_t> raise_versions_at_{0};  // from there on the bound is raised
  std::atomic<bool> raises_versions_{false};    // somebody is doing it
  std::atomic<uint64_t> unsynced_writes_{0};
  ReadErrors read_errors_;
  std::atomic<uint64_t> lookups_{0}, lookup_hits_{0}, lookup_ended_{0};
  std::atomic<uint64_t> loads_{0}, waits_{0}, changes_{0}, batches_{0}, write_errors_{0};

  base::Mutex flush_mutex_;  // held while flushing
  base::Mutex state_mutex_;
  State state_ WEFT_GUARDED_BY(state_mutex_);  // as written
  uint64_t version_step_ WEFT_GUARDED_BY(state_mutex_);
  uint64_t versions_raised_ns_ WEFT_GUARDED_BY(state_mutex_) = 0;

  base::Mutex syncer_mutex_;
  base::CondVar syncer_wake_;
  bool closing_ WEFT_GUARDED_BY(syncer_mutex_) = false;
  std::thread syncer_;
};

}  // namespace weft::tier
