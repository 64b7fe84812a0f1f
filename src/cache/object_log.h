// cache/object_log.h: where objects live: segments filled by appending and freed whole.
//
// A segment holds objects whose times to live fall into one group and that are of one generation
// (young: as stored; main: carried forward because they were used). Each group and generation has
// one open segment a lane; a lane is meant for one writer, and safe for many. A full segment is
// sealed. Victims are chosen among the sealed, emptied (cache/emptying.h) and retired. They are
// free again when the batches that could see them have left. An object of more than half a segment
// gets its own run of neighbouring segments.
//
// Sizes     segments of 64 KiB for a 64 MiB cache, growing with it to 1 MiB. So open segments are a
//           few hundredths of the memory, whatever the mixture of times to live. The number of
//           groups grows the same way. GeometryFor has the rule, docs/design/0002-memory.md why.
// Memory    at most budget_segments are resident. Addresses reserved are four times that, or as
//           many as locations can name, so that runs find neighbours. At first a quarter more than
//           the budget are in use, and more when a run finds no neighbours among them: each costs
//           its words in the tables. Freed segments go back to the system only when the budget
//           moves elsewhere.
// Threads   Append, Release, cas and flush calls: any, within an epoch. The rest as said.
// Lock      mutex_: after Index's, before none (docs/concurrency.md).
// Source    Segcache (NSDI'21) for segments by time to live; S3-FIFO (SOSP'23) for the generations.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "cache/command.h"
#include "cache/epoch.h"
#include "cache/page_shortage.h"
#include "cache/pages.h"
#include "cache/segment_set.h"
#include "task/log.h"

namespace weft::cache {

enum class Generation : uint8_t { kYoung = 0, kMain = 1 };
inline constexpr uint32_t kGenerations = 2;

// What an append is for. Each may open the segments that those before it may, and some more.
enum class Room : uint8_t {
  kNew,        // an object that replaces nothing, or something smaller
  kReplacing,  // a version; the one that it replaces is as large
  kCarrying,   // a live object of a segment that is being emptied
};

// What happens to a victim's live objects.
enum class VictimKind : uint8_t {
  kNone,   // nothing may be freed
  kDrop,   // every object has ended (or was flushed): drop all
  kClean,  // mostly dead: carry every live object forward
  kEvict,  // full of live objects: carry the used ones forward, drop the others
};

struct Victim {
  VictimKind kind = VictimKind::kNone;
  uint32_t segment = 0;
  Generation generation = Generation::kYoung;
  uint32_t fill_units = 0;
  uint32_t live_units = 0;
  bool is_run = false;
  // kClean: little of it is dead, but its first objects have ended. How many is not known.
  bool has_ended_in_part = false;
  // kNone: only for now, because a batch may still be writing into some segment, or one is being
  // emptied.
  bool pending = false;
};

struct LogGeometry {
  uint64_t segment_bytes = 0;
  uint32_t budget_segments = 0;
  uint32_t budget_min = 0;  // below this the largest object would not fit
  uint32_t groups = 0;
  uint32_t lanes = 0;
  // A sixteenth of the budget is kept for Room::kReplacing, for stores that evict nothing. Replaced
  // versions then always leave enough dead that a segment is worth cleaning (victims.cc).
  bool keeps_for_replacing = false;
};

// Locations in the log have 40 bits, which limits the addresses that can be named.
inline constexpr uint64_t kLogAddressesMax = (uint64_t{1} << kLocationBits) * kLocationUnitBytes;
// Half of them: large objects need neighbours, so addresses must be more than memory.
inline constexpr uint64_t kLogBytesMax = kLogAddressesMax / 2;

// The rule: `memory_bytes` for the log, `lanes` writers side by side.
LogGeometry GeometryFor(uint64_t memory_bytes, uint32_t lanes, uint32_t object_bytes_max);

class ObjectLog {
 public:
  // `source`: where its memory comes from; `objects`: that of the objects, if it is another.
  // kInvalidArgument beyond kLogBytesMax.
  static Result<std::unique_ptr<ObjectLog>> Create(const LogGeometry& geometry, bool huge_pages,
                                                   Epochs* epochs,
                                                   PageSource* source = SystemPages(),
                                                   PageSource* objects = nullptr);

  const LogGeometry& geometry() const { return geometry_; }
  uint32_t segment_units() const { return segment_units_; }
  task::LogRef Ref() const;

  // Group of objects that live `ttl_s` more seconds; 0 is for those that never expire.
  uint32_t GroupOf(uint32_t ttl_s) const;

  // Reserves `bytes` (a multiple of 8). Returns the location, or 0 when room must be made first.
  // The caller writes an object of just that size there before it leaves the epoch.
  uint64_t Append(uint32_t lane, Generation generation, uint32_t group, uint64_t bytes,
                  Expiry expiry, Room room = Room::kNew);
  Generation GenerationOf(uint64_t location) const {
    return segments_[SegmentOf(location)].generation.load(std::memory_order_relaxed);
  }
  // The segment that counts the object at `location`: the first of a run or of segments that share.
  uint32_t SegmentOf(uint64_t location) const {
    return segments_[location >> segment_shift_].first.load(std::memory_order_relaxed);
  }
  // An object of `units` was dropped from the young generation and is stored again after
  // `age_units` more were dropped. If the largest allowed young generation had kept it, young may
  // grow; otherwise it shrinks.
  void AdaptYoung(uint64_t age_units, uint64_t units);
  // The object at `location` counts no longer (replaced, deleted, never published).
  void Release(uint64_t location, uint64_t bytes);

  // From now on places of replaced objects may be filled with later versions (cache/holes.h), as
  // long as nothing live is evicted: the order in which objects came decides who goes.
  // REQUIRES: something may be evicted, nothing was appended yet, and nobody will Watch
  void AllowFilling() WEFT_EXCLUDES(mutex_);
  bool may_fill() const { return may_fill_; }
  // Whether it may be done now. A moment old.
  bool is_filling() const { return filling_.load(std::memory_order_relaxed); }
  // The version that its place gives, if the object there, which never expires and is replaced now,
  // leaves a hole that may be filled; and its generation. Otherwise 0.
  uint64_t VersionOfHole(uint64_t location, Generation* generation) const;
  // Whether a hole still counts as live: its segment was neither emptied nor begun anew. `version`:
  // that the place gave. It stays so while the caller is within the epoch.
  bool IsHole(uint64_t location, uint64_t version) const;
  // Whether a version of the same size that never expires may be written there, within the epoch,
  // in place of one of that generation. It is counted already. False also for a place in a segment
  // that is about to be emptied, or all of whose objects end.
  bool MayFill(uint64_t location, uint64_t version, Generation generation) const;

  // A segment as a mirror follows it.
  struct Watched {
    uint32_t segment = 0;
    uint64_t base = 0;        // version base: changes when it is filled anew
    uint32_t fill_units = 0;  // reserved so far; all of a run
    bool growing = true;      // it may still be appended to
    bool in_use = true;       // false: what lies there counts no longer
  };
  // From now on LookAt returns the segments in use now, and those begun later. No segment is
  // extended any more: whoever follows copies segments one by one.
  void Watch() WEFT_EXCLUDES(mutex_);
  // Puts the segments begun since the last call into *watched, in place of its entries of them.
  // Brings all of it up to date. One caller at a time.
  void LookAt(std::vector<Watched>* watched) WEFT_EXCLUDES(mutex_);
  // Brings these up to date and adds none.
  void LookAgain(std::span<Watched> watched) WEFT_EXCLUDES(mutex_);
  uint32_t segment_count() const { return segment_count_; }  // that have addresses
  // How many may be in use at once: what the budget allows, or allowed when it was larger. A moment
  // old.
  uint32_t segments_in_use_max() const { return in_use_max_.load(std::memory_order_relaxed); }

  // A version greater than any given out before; and the first that was not given out yet.
  uint64_t NextVersion() { return versions_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_version() const { return versions_.load(std::memory_order_relaxed); }
  // Every object carries its version, so a segment takes up only one number, and no version below
  // `first` is given out any more. Call it before anything is appended.
  void KeepVersions(uint64_t first) { versions_ = first, versions_a_segment_ = 1; }
  // A client was shown this version: later ones must be greater. Those that a client chose itself,
  // beyond those given out, do not count. False: none was written. Reads do not overtake that look.
  bool NoteShown(uint64_t version);
  // Whether an object appended now, which takes its version from its place, gets one above all that
  // were shown, and above `floor`. Where many lanes and groups are open, only those opened last do.
  // True also if none was ever shown.
  bool WouldRise(uint32_t lane, Generation generation, uint32_t group, uint64_t bytes,
                 uint64_t floor = 0) const;
  bool AnyShown() const { return shown_.load(std::memory_order_relaxed) != 0; }
  bool IsAboveShown(uint64_t version) const {
    return version > shown_.load(std::memory_order_relaxed);
  }

  uint64_t flush_floor() const { return flush_floor_.load(std::memory_order_seq_cst); }
  // Empties the log for readers that look from now on: seals what is open, moves the floor.
  void Flush() WEFT_EXCLUDES(mutex_);

  // Segments that could be opened now, beyond those kept for other appends; then those that wait
  // for last readers. No lock: a moment old. REQUIRES: not kCarrying
  uint32_t SegmentsAvailable(Room room = Room::kNew) const {
    return (room == Room::kNew ? available_ : available_to_replace_)
        .load(std::memory_order_relaxed);
  }
  uint32_t SegmentsRetired() const { return retired_count_.load(std::memory_order_relaxed); }
  // All that are free, or wait for their last readers. A moment old.
  uint32_t SegmentsFreeSoon() const { return free_soon_.load(std::memory_order_relaxed); }
  // Victims that are being emptied, including those that nobody is at work on now.
  uint32_t SegmentsEvicting() const { return evicting_count_.load(std::memory_order_relaxed); }
  uint32_t SegmentsNeeded(uint64_t bytes) const;
  // Whether this many free segments lie side by side, as a large object needs them.
  bool HasNeighbours(uint32_t count) WEFT_EXCLUDES(mutex_);
  // Frees retired segments that no batch can see any more.
  void Reclaim() WEFT_EXCLUDES(mutex_);
  // Chooses a segment to empty, or kNone (victims.cc). `evict` false: only what costs no live
  // object. `only_ended`: only segments whose every object has ended; looks at all of them, but
  // once a second at most. `spared`: not this segment, if its live objects would go; 0: any. Cost:
  // a window of segments. If evict is false, and once in 64 evictions, as many as it takes to find
  // one that is worth cleaning.
  Victim PickVictim(uint32_t now_s, bool evict, bool only_ended, uint32_t spared = 0)
      WEFT_EXCLUDES(mutex_);
  // A victim that has_ended_in_part was emptied, and `copied_units` of it were copied. The gain
  // decides how many more such victims are given out within this second.
  void NoteCleaned(const Victim& victim, uint64_t copied_units) WEFT_EXCLUDES(mutex_);
  // The victim holds nothing any more; or it stays, and goes to the back of its queue.
  void Retire(uint32_t segment) WEFT_EXCLUDES(mutex_);
  void Renew(uint32_t segment) WEFT_EXCLUDES(mutex_);
  // Seals every open segment, so that it can become a victim.
  void SealAll() WEFT_EXCLUDES(mutex_);
  // Seals the open segments that may yield room. If nothing live is evicted, these are the ones
  // with dead or ended objects, and those that would take fewer segments together. False: none.
  bool SealForRoom(uint32_t now_s) WEFT_EXCLUDES(mutex_);

  // Changes how many segments may be resident. If more are, they go bit by bit: every second one
  // that is freed, so that a thread waiting for room never has to make all of it.
  void SetBudget(uint32_t segments) WEFT_EXCLUDES(mutex_);
  // While over budget: gives one free segment back. To call when nobody waits for room.
  void GiveBackOne() WEFT_EXCLUDES(mutex_);
  // While there is a shortage: asks for a segment's memory once more, but once a second at most.
  void AskForPages(uint32_t now_s) WEFT_EXCLUDES(mutex_);
  const PageShortage& shortage() const { return shortage_; }

  // Bytes of objects that count. Reads every segment: for statistics.
  uint64_t live_bytes() const;
  uint64_t resident_bytes() const WEFT_EXCLUDES(mutex_);
  // More is resident than the budget allows; it goes as segments become free. A moment old.
  bool over_budget() const { return over_budget_.load(std::memory_order_relaxed); }
  // Bounds of SetBudget: what the largest object needs; what addresses were reserved for.
  uint32_t budget_min() const { return geometry_.budget_min; }
  uint32_t budget_max() const { return segment_count_ - 1; }
  // Bytes of the tables that describe segments, counting those whose addresses are in use. Grows
  // when the budget does, and when a large object finds no neighbours. A moment old.
  uint64_t table_bytes() const { return uint64_t{reach_} * kTableBytesASegment; }
  // The same, rounded up in steps, with some to spare, so that room made for it lasts a while.
  uint64_t table_bytes_soon() const {
    return (uint64_t{reach_} / kReachStep + 2) * kReachStep * kTableBytesASegment;
  }

 private:
  friend class SavedLog;  // cache/saved_log.h

  enum class State : uint8_t { kFree, kOpen, kSealed, kEvicting, kRetired, kRunTail };

  // What may be done with places of objects that were replaced (cache/holes.h).
  enum class Places : uint8_t {
    kGone,      // the segment was emptied, and counts nothing any more
    kClosed,    // they count, but whoever empties it, or drops it whole, finds it as it is
    kFillable,  // later versions may lie there
  };
  // A segment's Places and generation in one byte, of which all fit into a core's own cache: each
  // overwriting looks at two.
  static constexpr uint8_t MarkOf(Places places, Generation generation) {
    return static_cast<uint8_t>(static_cast<uint32_t>(places) | static_cast<uint32_t>(generation)
                                                                    << kMarkGenerationShift);
  }
  static constexpr uint32_t kMarkGenerationShift = 2;

  static constexpr uint32_t kSomeNeverExpire = UINT32_MAX;

  struct alignas(64) Segment {
    std::atomic<uint32_t> live_units{0};
    std::atomic<uint32_t> last_expiry{0};  // latest end of its objects, or kSomeNeverExpire
    // Earliest end, or kSomeNeverExpire. Kept only where nothing live is evicted.
    std::atomic<uint32_t> first_expiry{kSomeNeverExpire};
    // Guarded by mutex_.
    State state = State::kFree;
    std::atomic<Generation> generation{Generation::kYoung};  // read without it, too
    bool is_run = false;                                     // one large object
    bool is_repacked = false;  // begun by carrying: no copy of it would be shorter
    uint32_t group = 0;
    uint32_t fill_units = 0;  // units in use, once sealed
    // Neighbours that belong to it, including itself, once in use. Grows while it is open, under
    // mutex_; read without it, too.
    std::atomic<uint32_t> run_segments{0};
    // End of the objects that lie wholly in its first segment.
    uint32_t whole_units = 0;
    uint32_t older = 0;  // neighbours in the queue of sealed segments, 0: none
    uint32_t newer = 0;
    std::atomic<uint32_t> first{0};  // of those it belongs to; set before anything is stored there
    uint64_t stamp = 0;              // epoch of sealing, later of closing, then of retiring
  };

  static constexpr uint64_t kTableBytesASegment =
      sizeof(Segment) + sizeof(uint64_t) + sizeof(uint8_t);
  static constexpr uint32_t kReachStep = 64;
  static constexpr uint32_t kCandidatesMax = 16;
  // Segments' worth of live units beside ended objects that may be copied in a second without any
  // gain: whoever is refused waits for it.
  static constexpr uint32_t kEndsSegments = 16;

  // The sealed segments of one generation, in the order of their sealing.
  struct Queue {
    uint32_t oldest = 0;
    uint32_t newest = 0;
    uint64_t units = 0;  // in use
  };

  // An open segment: number in the high half, next free unit in the low one; 0: none.
  struct alignas(64) Open {
    std::atomic<uint64_t> cursor{0};
  };

  ObjectLog(const LogGeometry& geometry, Epochs* epochs);

  Open& OpenOf(uint32_t lane, Generation generation, uint32_t group) const {
    const size_t row = static_cast<size_t>(generation) * geometry_.groups + group;
    return open_[row * geometry_.lanes + lane];
  }
  void Count(uint32_t segment, uint32_t units, Expiry expiry);
  uint64_t AppendRun(Generation generation, uint32_t group, uint64_t units, Expiry expiry,
                     Room room) WEFT_EXCLUDES(mutex_);
  void AskForHugePages(uint32_t low_segments);
  uint32_t LaneFor(uint32_t lane, uint64_t units) const;
  uint64_t EndOf(uint32_t segment) const {
    return uint64_t{segments_[segment].run_segments.load(std::memory_order_acquire)} *
           segment_units_;
  }
  bool MakeOpen(Open* open, Generation generation, uint32_t group, uint64_t units, Room room)
      WEFT_EXCLUDES(mutex_);
  bool ExtendLocked(uint32_t first, uint32_t unit, uint64_t units, Room room) WEFT_REQUIRES(mutex_);
  uint32_t OpenLocked(uint64_t units, Room room) WEFT_REQUIRES(mutex_);
  void AddTailsLocked(uint32_t first, uint32_t count) WEFT_REQUIRES(mutex_);
  void DrawVersionsLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  void SealLocked(Open* open) WEFT_REQUIRES(mutex_);
  void SealAllLocked() WEFT_REQUIRES(mutex_);
  uint32_t TakeLocked(Room room) WEFT_REQUIRES(mutex_);
  uint32_t TakeRunLocked(uint32_t first, uint32_t count, Room room) WEFT_REQUIRES(mutex_);
  uint32_t FindRunLocked(uint32_t count) WEFT_REQUIRES(mutex_);
  uint32_t FindRunInReachLocked(uint32_t count) const WEFT_REQUIRES(mutex_);
  uint32_t FindRunInReachLocked(uint32_t count, bool any) const WEFT_REQUIRES(mutex_);
  void ReachLocked(uint64_t segments) WEFT_REQUIRES(mutex_);
  bool IsFreeLocked(uint32_t segment) const WEFT_REQUIRES(mutex_);
  bool MayTakeLocked(uint32_t segment, bool any) const WEFT_REQUIRES(mutex_);
  uint32_t ReserveLocked() const WEFT_REQUIRES(mutex_);
  bool AskForPagesLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  bool BackLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  uint32_t UsedLocked() const WEFT_REQUIRES(mutex_) {
    return backed_segments_ - free_backed_.count();
  }
  void GiveBackLocked() WEFT_REQUIRES(mutex_);
  void LowerBudgetLocked(uint32_t kept) WEFT_REQUIRES(mutex_);
  void CountTakenLocked(uint32_t count) WEFT_REQUIRES(mutex_);
  void BeginLocked(uint32_t segment, Generation generation, uint32_t group) WEFT_REQUIRES(mutex_);
  void FreeLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  void FreeOneLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  void UpdateLocked(std::span<Watched> watched) WEFT_REQUIRES(mutex_);
  void ListLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  uint32_t AvailableLocked() const WEFT_REQUIRES(mutex_);
  uint32_t KeptFrom(Room room) const WEFT_REQUIRES(mutex_);
  uint32_t KeptToReplace(uint32_t budget) const;
  void PublishCountsLocked() WEFT_REQUIRES(mutex_);

  // victims.cc
  void EnqueueLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  void UnlinkLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  void NoteEndLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  bool IsFlushedLocked(uint32_t segment) const WEFT_REQUIRES(mutex_);
  bool HasEndedLocked(uint32_t segment, uint32_t now_s) const WEFT_REQUIRES(mutex_);
  bool RowShrinksLocked(std::span<const Open> row) const WEFT_REQUIRES(mutex_);
  bool HasEndedInPartLocked(uint32_t segment, uint32_t now_s) const WEFT_REQUIRES(mutex_);
  bool BringsRoomLocked(const Open& open, uint32_t now_s) const WEFT_REQUIRES(mutex_);
  void NoteMayClean();
  int64_t EndsAllowedMax() const { return int64_t{kEndsSegments} * segment_units_; }
  void AllowEndsLocked(uint32_t now_s) WEFT_REQUIRES(mutex_);
  void CollectEndedLocked(uint32_t now_s, uint64_t passed_below) WEFT_REQUIRES(mutex_);
  uint32_t TakeEndedLocked(uint32_t now_s, uint64_t passed_below) WEFT_REQUIRES(mutex_);
  struct Survey;
  void RememberLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  void LookAtLocked(uint32_t segment, Survey* survey) WEFT_REQUIRES(mutex_);
  Survey SurveyLocked(uint32_t now_s, uint64_t passed_below, bool whole) WEFT_REQUIRES(mutex_);
  uint32_t OldestLocked(Generation generation, uint64_t passed_below, uint32_t spared) const
      WEFT_REQUIRES(mutex_);
  uint64_t YoungUnits(uint64_t total) const;
  Victim ClaimLocked(uint32_t segment, VictimKind kind, bool has_ended_in_part = false)
      WEFT_REQUIRES(mutex_);
  uint8_t MarkAt(uint64_t location) const {
    return marks_[location >> segment_shift_].load(std::memory_order_seq_cst);
  }
  Places PlacesOf(uint32_t segment) const {
    return Places(marks_[segment].load(std::memory_order_seq_cst) % (1u << kMarkGenerationShift));
  }
  void SetPlacesLocked(uint32_t segment, Places places) WEFT_REQUIRES(mutex_) {
    const Generation generation = segments_[segment].generation.load(std::memory_order_relaxed);
    marks_[segment].store(MarkOf(places, generation), std::memory_order_seq_cst);
  }
  uint64_t VersionOfPlace(uint64_t location) const {
    const uint64_t at = location >> segment_shift_;
    return std::atomic_ref<uint64_t>(version_bases_[at]).load() + (location & (segment_units_ - 1));
  }
  bool IsUnfilledLocked(uint32_t segment, uint64_t passed_below) const WEFT_REQUIRES(mutex_);
  void CloseLocked(uint32_t segment) WEFT_REQUIRES(mutex_);
  bool EndFillingLocked() WEFT_REQUIRES(mutex_);
  void NoteCleaningLocked() WEFT_REQUIRES(mutex_);
  void EndFlushLocked() WEFT_REQUIRES(mutex_);

  // Constant after construction.
  const LogGeometry geometry_;
  const uint32_t segment_units_;     // a power of two
  const uint32_t segment_shift_;     // its logarithm
  const uint32_t segment_count_;     // addresses reserved
  const uint32_t reserve_segments_;  // while no segment is longer
  const uint32_t run_max_;           // neighbours that share what they hold, at most
  Epochs* const epochs_;
  Pages pages_;
  bool huge_pages_ = false;
  Pages segment_pages_;
  Segment* segments_ = nullptr;  // in segment_pages_: no memory of those that were never used
  Pages base_pages_;
  uint64_t* version_bases_ = nullptr;  // in base_pages_: atomic words, read by tasks
  Pages mark_pages_;
  std::atomic<uint8_t>* marks_ = nullptr;  // in mark_pages_; written under mutex_
  std::unique_ptr<Open[]> open_;
  uint32_t versions_a_segment_;
  bool may_fill_ = false;  // AllowFilling

  // Provides its own synchronisation.
  std::atomic<uint64_t> versions_{1};
  alignas(64) std::atomic<uint64_t> shown_{0};  // greatest version that a client was shown
  alignas(64) std::atomic<uint64_t> flush_floor_{0};
  std::atomic<uint32_t> available_{0};  // mirrors, set by PublishCountsLocked
  std::atomic<uint32_t> available_to_replace_{0};
  std::atomic<uint32_t> retired_count_{0};
  std::atomic<uint32_t> free_soon_{0};
  std::atomic<uint32_t> evicting_count_{0};
  std::atomic<uint32_t> in_use_max_{0};
  std::atomic<bool> over_budget_{false};
  std::atomic<uint32_t> reach_{1};  // segments below it may be taken; grows under mutex_
  std::atomic<bool> watched_{false};
  PageShortage shortage_;
  std::atomic<uint64_t> young_units_{0};  // that young may hold; within bounds where it is used
  std::atomic<bool> keeps_to_replace_{false};  // by the budget of now
  std::atomic<bool> filling_{false};           // written under mutex_
  // Something died or was sealed since the last look at all segments began. Kept only where nothing
  // live is evicted.
  std::atomic<bool> may_clean_{true};

  mutable base::Mutex mutex_;
  std::vector<uint32_t> begun_ WEFT_GUARDED_BY(mutex_);   // since the last LookAt
  std::vector<bool> is_begun_ WEFT_GUARDED_BY(mutex_);    // by segment: is in begun_
  uint32_t budget_goal_ WEFT_GUARDED_BY(mutex_);          // as asked for; less in a shortage
  uint32_t budget_segments_ WEFT_GUARDED_BY(mutex_);      // above the goal while on the way there
  uint32_t kept_segments_ WEFT_GUARDED_BY(mutex_) = 0;    // on the way there: left free for stores
  uint32_t backed_segments_ WEFT_GUARDED_BY(mutex_) = 0;  // hold memory; free or not
  SegmentSet free_backed_ WEFT_GUARDED_BY(mutex_);        // free; hold memory
  SegmentSet free_bare_ WEFT_GUARDED_BY(mutex_);          // free, addresses only
  SegmentSet growing_into_ WEFT_GUARDED_BY(mutex_);       // open segments may be extended by these
  uint32_t used_end_ WEFT_GUARDED_BY(mutex_) = 1;         // no segment from here on was ever used
  std::deque<uint32_t> retired_ WEFT_GUARDED_BY(mutex_);
  uint32_t retired_segments_ WEFT_GUARDED_BY(mutex_) = 0;  // of those, neighbours included
  Queue queues_[kGenerations] WEFT_GUARDED_BY(mutex_);
  uint32_t longest_run_ WEFT_GUARDED_BY(mutex_) = 1;     // of those that were ever shared
  uint64_t filling_ended_ WEFT_GUARDED_BY(mutex_) = 0;   // epoch; those up to it may still fill
  uint32_t cleaned_in_row_ WEFT_GUARDED_BY(mutex_) = 0;  // since something live was evicted
  uint32_t closed_ WEFT_GUARDED_BY(mutex_) = 0;  // sealed segments that were closed to be cleaned
  uint32_t sealed_ WEFT_GUARDED_BY(mutex_) = 0;
  uint32_t evicting_ WEFT_GUARDED_BY(mutex_) = 0;
  uint32_t flushed_left_ WEFT_GUARDED_BY(mutex_) = 0;     // from before the floor; not yet retired
  uint32_t survey_next_ WEFT_GUARDED_BY(mutex_) = 1;      // where the next survey begins
  uint32_t none_to_clean_s_ WEFT_GUARDED_BY(mutex_) = 0;  // when a look at all found none
  // May still be copied in the second of ends_allowed_s_: live units of segments that have ended in
  // part.
  int64_t ends_allowed_ WEFT_GUARDED_BY(mutex_) = 0;
  uint32_t ends_allowed_s_ WEFT_GUARDED_BY(mutex_) = 0;
  // Evictions since one that followed a look at all segments.
  uint32_t evicted_since_whole_ WEFT_GUARDED_BY(mutex_) = UINT32_MAX;
  std::vector<uint32_t> ended_ WEFT_GUARDED_BY(mutex_);  // found to have ended; may be gone
  std::array<uint32_t, kCandidatesMax> candidates_ WEFT_GUARDED_BY(mutex_){};  // worth cleaning;
  uint32_t candidate_count_ WEFT_GUARDED_BY(mutex_) = 0;                       // may be gone
  uint64_t end_due_s_ WEFT_GUARDED_BY(mutex_) = UINT64_MAX;  // no sealed segment ends before
  uint32_t ends_collected_s_ WEFT_GUARDED_BY(mutex_) = 0;    // when all of them were last looked at
};

// A segment's mark changes before the epoch that its emptying, or freeing, waits for. So whoever
// asked before is still seen there, and whoever asks later is told. The base comes after the mark:
// where the segment was begun anew, and may be filled again, it has the new one. Holes lie only in
// segments that count for themselves: one that belongs to another's run is kGone.
inline uint64_t ObjectLog::VersionOfHole(uint64_t location, Generation* generation) const {
  const uint8_t mark = MarkAt(location);
  *generation = Generation(mark >> kMarkGenerationShift);
  const bool leaves = is_filling() && mark == MarkOf(Places::kFillable, *generation);
  return leaves ? VersionOfPlace(location) : 0;
}

// All filling ends before the epoch that an eviction waits for.
inline bool ObjectLog::MayFill(uint64_t location, uint64_t version, Generation generation) const {
  return filling_.load(std::memory_order_seq_cst) &&
         MarkAt(location) == MarkOf(Places::kFillable, generation) &&
         VersionOfPlace(location) == version;
}

}  // namespace weft::cache
