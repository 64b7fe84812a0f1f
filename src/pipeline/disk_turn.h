// pipeline/disk_turn.h: one worker's batches over the durable tier: the locked keys, the changes,
// and the sources that wait for the disk.
//
// For each group of a batch: Lock takes the stripes of the keys it may change; queries run, and
// Execute notes their changes; Commit writes these, the last change of each key, as one batch of
// the durable store and releases the stripes. A group whose values reach kGroupBytesMax ends early
// (IsFull). At the end of the batch EndBatch syncs, if that was asked for. Only then may the
// replies, which are already written, be sent, except those of a source that failed().
//
// A query whose key is not in memory needs an answer from the disk. If its source has brought none,
// the source skips that query and all later ones, and is waiting(). Its keys are collected in
// lookup(): the owner has them looked up and runs the queries again.
//
// Threads   the worker's.
// Lock      holds stripes (tier/stripes.h) from Lock to Commit. Waits for them only outside the
//           epoch: no wait for memory may depend on a wait for a stripe.
// Memory    for a group, besides the cache's: kGroupBytesMax and one value.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/session.h"
#include "cache/store.h"
#include "pipeline/batch.h"
#include "tier/disk_tier.h"
#include "tier/lookup.h"

namespace weft::pipeline {

class DiskTurn {
 public:
  static constexpr uint32_t kGroupQueriesMax = 32;
  // A group may exceed this by one value. Large values gain nothing from a common write.
  static constexpr size_t kGroupBytesMax = size_t{4} << 20;

  DiskTurn(tier::DiskTier* tier, cache::Store* store) : tier_(tier), store_(store) {}
  DiskTurn(const DiskTurn&) = delete;
  DiskTurn& operator=(const DiskTurn&) = delete;

  tier::DiskTier& tier() const { return *tier_; }

  // --- the owner's, around a batch -----------------------------------------------------------

  void Clear() { sources_.clear(); }
  // After each Batch::AddSource. `brought`: answers, or null; they must stay until the batch is
  // written. `insists`: earlier answers were out of date when they came. If a key's answer is so
  // again, it is looked up at once, while the key is locked.
  void AddSource(tier::Lookup* brought, bool insists);
  bool waiting(uint32_t source) const { return sources_[source].lookup != nullptr; }
  // The lookup it waits for. REQUIRES: waiting(source)
  std::unique_ptr<tier::Lookup> TakeLookup(uint32_t source) {
    return std::move(sources_[source].lookup);
  }
  // A change of the source was not written: none of its replies of this batch may be sent.
  bool failed(uint32_t source) const { return sources_[source].failed; }
  // Removes a key that must not be served any more, whatever is there. Between groups.
  void DropKey(uint32_t source, const cache::Command& command, cache::Session& session);

  // --- the stage's ---------------------------------------------------------------------------

  // REQUIRES: inside. May leave the epoch and come back.
  void Lock(const Batch& batch, uint32_t begin, uint32_t end, cache::Session& session);
  // Store::Execute with the disk behind it. False: it was not carried out, its source waits, and
  // the reply says nothing. `room_is_out`: there is no room for it, so what it works on stays only
  // on disk.
  bool Execute(Batch& batch, uint32_t i, cache::Hint hint, cache::Session& session,
               bool room_is_out, cache::Reply* reply);
  // Removes the value under the key of query `i`, a command that changes, from memory and disk.
  void Clear(const Batch& batch, uint32_t i, cache::Session& session);
  // Whether the group must end before query `i`. It may be full, unless it has changed that key
  // already (then the next change replaces that one). Or the group's own changes have outdated an
  // answer that a source insists on.
  bool IsFull(const Batch& batch, uint32_t i) {
    return (changes_bytes_ + own_bytes_ > kGroupBytesMax && LastChangeOf(batch, i) == nullptr) ||
           (sources_[batch.source(i)].insists && !changed_.empty() && IsOutdatedByGroup(batch, i));
  }
  // Whether memory alone can answer a plain read, after task KC.
  static bool IsInMemory(const Batch& batch, uint32_t i, const cache::Session& session) {
    return batch.word(i) != 0 && !task::IsFlushed(session.log(), batch.location(i));
  }
  // Answers a plain read that memory can't. False: its source waits.
  bool Read(Batch& batch, uint32_t i, cache::Session& session);
  // Roughly the length of the value that was brought for the query's key; 0: none was.
  uint64_t BroughtBytes(const Batch& batch, uint32_t i) {
    tier::Lookup* const brought = sources_[batch.source(i)].brought;
    if (brought == nullptr) return 0;
    const tier::Asked* const asked = brought->Find(batch.key(i), batch.hash(i));
    return asked == nullptr ? 0 : asked->bytes.size();
  }
  // For a query of a source that waits: asks for its key as well, if that is not in memory and its
  // source will have room for the answer.
  void LookAhead(Batch& batch, uint32_t i, cache::Session& session);
  // REQUIRES: inside. May leave the epoch and come back.
  void Commit(const Batch& batch, cache::Session& session);
  // REQUIRES: outside.
  void EndBatch();

 private:
  struct Source {
    tier::Lookup* brought = nullptr;
    bool insists = false;
    bool changed = false;
    bool failed = false;
    std::unique_ptr<tier::Lookup> lookup;
  };
  struct Change {
    uint32_t query;
    bool replaced;           // a later one of its key counts instead
    uint64_t location;       // of the key's object; 0: it is not in memory
    std::string item;        // then: as it will be on disk; empty: it was removed
    size_t bytes;            // of key and value
    std::vector<char> made;  // the item's bytes in the reply, until the group is written
  };

  // Whether Lock took the stripe of a command's key. REQUIRES: kind kCommand
  bool IsLocked(const Batch& batch, uint32_t i) const;
  void LockAll(cache::Session& session);
  void UnlockAll();
  const tier::Asked* AnswerFor(const Batch& batch, uint32_t i);
  bool HasChanged(uint32_t stripe, const Batch& batch) const;
  bool IsOutdatedByGroup(const Batch& batch, uint32_t i);
  void Wait(Batch& batch, uint32_t i);
  enum class Brought : uint8_t { kAbsent, kLoaded, kNoRoom, kTooLarge, kError, kWaits };
  // *item: the answer brought, for kTooLarge and kNoRoom.
  Brought Bring(const Batch& batch, uint32_t i, cache::Session& session, cache::Reply* reply,
                tier::Item* item);
  bool Enter(std::string_view key, uint64_t hash, const tier::Item& item, cache::Session& session);
  cache::Reply ExecuteOnDisk(const Batch& batch, uint32_t i, const cache::Command& command,
                             tier::Item item, cache::Session& session);
  void DropFromMemory(const Batch& batch, uint32_t i, cache::Session& session);
  void Note(const Batch& batch, uint32_t i, const cache::Reply& reply, cache::Session& session);
  void AddChange(const Batch& batch, Change change);
  void Encode(tier::Item item, const cache::Session& session, std::string* bytes) const;
  const Change* LastChangeOf(const Batch& batch, uint32_t i) const;
  void WriteChanges(const Batch& batch, cache::Session& session);
  tier::Item ItemAt(uint64_t location, const cache::Session& session) const;
  void TakeBack(const Batch& batch, cache::Session& session);

  tier::DiskTier* const tier_;
  cache::Store* const store_;

  // Per batch.
  std::vector<Source> sources_;
  bool wrote_ = false;

  // Per group.
  std::array<uint32_t, kGroupQueriesMax> stripes_;  // held, rising
  uint32_t stripe_count_ = 0;
  std::vector<Change> changed_;
  size_t changes_bytes_ = 0;                       // of those that count
  std::vector<std::unique_ptr<tier::Asked>> own_;  // answers of sources that insisted
  size_t own_bytes_ = 0;
  // Scratch of Commit and DropKey.
  WriteBatch changes_;
  std::string value_;
};

}  // namespace weft::pipeline
