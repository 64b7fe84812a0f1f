#include "cache/store.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "cache/emptying.h"
#include "cache/entry.h"

namespace weft::cache {
namespace {

constexpr uint64_t kMemoryBytesMin = 1u << 20;
// Of the memory, for each bucket of the first table. More are there from the beginning where
// nothing is evicted, since a table may be unable to grow later, and where full sets drop entries.
constexpr uint64_t kBytesPerFirstBucket = 65536;
constexpr uint64_t kBytesPerFirstBucketOfMany = 16384;
constexpr uint64_t kMemoryGrowthMax = 4;  // SetMemoryLimit
constexpr double kExpectedLoad = 0.75;    // of an index sized by expected_items
// For what ends by itself: batches of others that still see what was freed, and growth's work in
// another thread. Long, for on a busy machine such a thread may not be running.
constexpr uint64_t kRoomWaitNs = 1'000'000'000;
// The same, while a batch goes on for which somebody has waited that long in vain.
constexpr uint64_t kHeldRoomWaitNs = 1'000'000;
// One look counts for no more than this part of the wait: a longer one means that whoever waits did
// not run either.
constexpr uint64_t kRoomLooksMin = 20;
constexpr uint32_t kWritesOfWaiting = 16;  // that a wait counts as, where it is spent on eviction
// Segments that are emptied for each one wanted, at most: 2 % of one is gained where all of them
// are in use and stay (carry_account.h), and half of that goes back to the system while there is
// too much.
constexpr uint32_t kEmptiedPerSegment = 128;
constexpr uint32_t kEmptiedMin = 1000;
// Where nothing live is evicted, so many segments' worth is copied without a gain, at most. To gain
// one takes up to twenty (kCleanPercentNoEvict), and some more where objects do not fill them well.
constexpr uint64_t kVainSegments = 64;
// In flush_at_s_ while a flush that fell due is carried out. Its second has passed on every clock,
// so whoever looks meanwhile comes to FlushDue, and waits there.
constexpr uint32_t kFlushUnderWay = 1;

uint64_t FirstBucketCount(const CacheOptions& options) {
  const double expected =
      static_cast<double>(options.expected_items) / (kBucketSlots * kExpectedLoad);
  const bool few = options.evict && options.index_policy == IndexPolicy::kCuckoo;
  const uint64_t bytes_a_bucket = few ? kBytesPerFirstBucket : kBytesPerFirstBucketOfMany;
  return std::max<uint64_t>(options.memory_bytes / bytes_a_bucket,
                            static_cast<uint64_t>(expected) + 1);
}

Status CheckOptions(const CacheOptions& options) {
  if (options.memory_bytes < kMemoryBytesMin)
    return {Code::kInvalidArgument, "memory_bytes must be at least 1 MiB"};
  static_assert(kLogBytesMax == uint64_t{4} << 40);
  if (options.memory_bytes > kLogBytesMax)
    return {Code::kInvalidArgument,
            "memory_bytes must be at most 4 TiB (-m 4194304): locations have 40 bits"};
  if (options.object_bytes_max < 1024 || options.object_bytes_max > (1u << 30))
    return {Code::kInvalidArgument, "object_bytes_max must be from 1 KiB to 1 GiB"};
  if (options.object_bytes_max > options.memory_bytes / 2)
    return {Code::kInvalidArgument, "object_bytes_max must be at most half of memory_bytes"};
  if (options.hash_bits == 0 || options.hash_bits > 64)
    return {Code::kInvalidArgument, "hash_bits must be from 1 to 64"};
  if (!options.evict && options.index_policy == IndexPolicy::kSetAssociative)
    return {Code::kInvalidArgument, "evict = false needs kCuckoo: a set-associative index evicts"};
  if (FirstBucketCount(options) * sizeof(task::Bucket) > options.memory_bytes / 2)
    return {Code::kInvalidArgument, "an index for expected_items needs over half of memory_bytes"};
  return Status::Ok();
}

// Waits for a flush that is being carried out: what comes next must not be emptied by it.
void WaitForFlush(const std::atomic<uint32_t>& flush_at_s) {
  while (flush_at_s.load() == kFlushUnderWay) std::this_thread::yield();
}

}  // namespace

Store::Store(const CacheOptions& options, const base::KeyedHash& hash, PageSource* source)
    : options_(options),
      hasher_(hash, options.hash_bits),
      source_(source),
      hole_budget_(options.memory_bytes / kHolesShare / kLocationUnitBytes),
      memory_limit_(options.memory_bytes) {}

Store::~Store() {
  base::MutexLock lock(&sessions_mutex_);
  WEFT_CHECK(sessions_.empty());
}

Result<std::unique_ptr<Store>> Store::Open(const CacheOptions& options, PageSource* source,
                                           PageSource* objects) {
  if (Status status = CheckOptions(options); !status.ok()) return status;
  auto hash = options.hash_seed != 0 ? base::KeyedHash::FromSeed(options.hash_seed)
                                     : base::KeyedHash::Random();
  if (!hash) return hash.error();
  // The constructor is private so that no store exists half made.
  auto store = std::unique_ptr<Store>(new Store(options, *hash, source));  // owned at once
  if (Status status = store->Init(objects); !status.ok()) return status;
  return store;
}

Status Store::OpenIndex(uint64_t buckets) {
  auto index = Index::Create(options_.index_policy, buckets, options_.evict, options_.huge_pages,
                             hasher_, &epochs_, source_);
  if (!index) return index.error();
  index_ = std::move(index.value());
  return Status::Ok();
}

Status Store::ResizeEmptyIndex(uint64_t buckets) {
  if (buckets <= index_->bucket_count()) return Status::Ok();
  if (Status status = OpenIndex(buckets); !status.ok()) return status;
  UpdateLogBudget();
  return Status::Ok();
}

Status Store::Init(PageSource* objects) {
  if (Status status = OpenIndex(FirstBucketCount(options_)); !status.ok()) return status;
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  const uint32_t lanes = options_.append_lanes != 0 ? options_.append_lanes : cores;
  const uint64_t index_bytes =
      objects == nullptr
          ? index_->table_bytes()
          : options_.memory_bytes / kBytesPerFirstBucketOfMany * sizeof(task::Bucket);
  const uint64_t log_bytes = options_.memory_bytes - index_bytes;
  LogGeometry geometry = GeometryFor(log_bytes, lanes, options_.object_bytes_max);
  geometry.keeps_for_replacing = !options_.evict;
  auto log = ObjectLog::Create(geometry, options_.huge_pages, &epochs_, source_, objects);
  if (!log) return log.error();
  log_ = std::move(log.value());
  // A version that had to be written out later would make what replaces an object longer than it.
  if (!options_.evict) KeepVersions(1);
  const uint64_t segment_units = log_->segment_units();
  carry_account_ = std::make_unique<CarryAccount>(segment_units, CarryAccount::kCarryPercent);
  stay_account_ = std::make_unique<CarryAccount>(segment_units, CarryAccount::kStayPercent);
  auto ghosts = Ghosts::Create(kMemoryGrowthMax * options_.memory_bytes / Ghosts::kMemoryShare,
                               options_.huge_pages);
  if (!ghosts) return ghosts.error();
  ghosts_ = std::move(ghosts.value());
  if (LogBudgetBytes(index_->table_bytes()) < log_->budget_min() * log_->geometry().segment_bytes)
    return {Code::kInvalidArgument, "memory_bytes is too small for object_bytes_max"};
  UpdateLogBudget();
  return Status::Ok();
}

std::unique_ptr<Session> Store::NewSession(const Session* beside) {
  Session::Slots slots;
  slots.reading = epochs_.Claim();
  if (slots.reading == nullptr) return nullptr;
  slots.changing = change_epochs_.Claim();
  if (slots.changing == nullptr) {
    epochs_.Release(slots.reading);
    return nullptr;
  }
  const uint32_t lane = beside != nullptr ? beside->lane() : next_lane_.fetch_add(1);
  auto session = std::make_unique<Session>(this, slots, lane);
  if (beside != nullptr) session->set_eviction_watch(beside->eviction_watch());
  base::MutexLock lock(&sessions_mutex_);
  sessions_.push_back(session.get());
  return session;
}

void Store::Forget(Session* session) {
  base::MutexLock lock(&sessions_mutex_);
  sessions_.erase(std::find(sessions_.begin(), sessions_.end(), session));
  retired_counters_.AddAll(session->counters());
}

Reply Store::Execute(Session& session, const Command& command, Hint* hint) {
  switch (command.verb) {
    case Verb::kRead: return ReadEntry(session, command, hint);
    case Verb::kStore: return StoreEntry(session, command, hint);
    case Verb::kDelete: return DeleteEntry(session, command, hint);
    case Verb::kArithmetic: return ArithmeticEntry(session, command, hint);
    case Verb::kTouch: return TouchEntry(session, command, hint);
  }
  return Plain(Outcome::kMiss);
}

void Store::InheritMark(Session& session, const Command& command, uint64_t old, uint64_t placed) {
  if (!log_->may_fill()) return;
  Entry entry;
  entry.present = old != 0;
  if (entry.present) entry.object = session.ObjectAt(old);
  KeepShownMarkOfNext(session, command, entry, placed);
}

void Store::Abandon(Session& session, uint64_t location) { session.ReleaseObject(location); }

uint64_t Store::Load(Session& session, const ObjectSpec& spec, uint64_t hash) {
  if (IsTooLarge(session, spec.key.size(), spec.value_bytes())) return 0;
  Command command;
  command.key = spec.key;
  command.hash = hash;
  // Ends: each round more means that the session's view is from before a flush. The object itself
  // was judged with its stripe held, so no flush has come since (tier/stripes.h).
  for (;;) {
    Hint hint;
    const Entry entry = Locate(session, command, &hint);
    if (entry.present) return entry.location();
    ObjectSpec version = spec;
    const uint64_t location = AppendVersion(session, &version, entry, hash);
    if (location == 0) return 0;
    const Published published = Publish(session, command, entry, location);
    if (published == Published::kDone) return location;
    Abandon(session, location);
    if (published == Published::kFull) return 0;
  }
}

void Store::KeepVersions(uint64_t first_version) {
  keeps_versions_ = true;
  log_->KeepVersions(first_version);
}

void Store::NoteStoredBytes(uint64_t location, uint32_t bytes) {
  uint32_t largest = largest_stored_bytes();
  while (bytes > largest &&
         !largest_stored_bytes_.compare_exchange_weak(largest, bytes, std::memory_order_relaxed))
    continue;
  // One object in sixteen: a shared word that every store wrote would bind the writers together.
  if ((location & 15) != 0) return;
  const uint64_t mean_16ths = expected_bytes_16ths_.load(std::memory_order_relaxed);
  const uint64_t next = mean_16ths - mean_16ths / 16 + bytes;
  if (next != mean_16ths) expected_bytes_16ths_.store(next, std::memory_order_relaxed);
}

uint64_t Store::LogBudgetBytes(uint64_t index_bytes) const {
  const uint64_t limit = memory_limit();
  const uint64_t tables = index_bytes + log_->table_bytes_soon() + ghosts_planned_bytes_;
  return limit > tables ? limit - tables : 0;
}

// Gives the log what the limit leaves beside index tables of `index_bytes`, and beside its own.
void Store::SetLogBudgetLocked(uint64_t index_bytes) {
  uint64_t segments = 0;
  do {  // Ends: a larger budget may make the log's tables grow, and is smaller for it then.
    log_table_bytes_ = log_->table_bytes_soon();
    segments = std::clamp<uint64_t>(LogBudgetBytes(index_bytes) / log_->geometry().segment_bytes,
                                    log_->budget_min(), log_->budget_max());
    log_->SetBudget(static_cast<uint32_t>(segments));
  } while (log_table_bytes_ != log_->table_bytes_soon());
  ghosts_->SetLogUnits(segments * log_->segment_units());
}

// Large objects have made the log's tables grow: it gives up their memory.
void Store::FollowLogTables() {
  if (log_->table_bytes_soon() == log_table_bytes_) return;
  base::MutexLock lock(&budget_mutex_);
  if (!growth_planned_) SetLogBudgetLocked(index_->table_bytes());
}

void Store::UpdateLogBudget() {
  base::MutexLock lock(&budget_mutex_);
  SetLogBudgetLocked(index_->table_bytes());
}

Status Store::SetMemoryLimit(uint64_t bytes) {
  const uint64_t segment_bytes = log_->geometry().segment_bytes;
  const uint64_t tables = index_->table_bytes() + log_->table_bytes_soon() + ghosts_planned_bytes_;
  if (bytes < tables + log_->budget_min() * segment_bytes)
    return {Code::kInvalidArgument, "the limit is too small for the index and the largest object"};
  if (bytes > std::min(kMemoryGrowthMax * options_.memory_bytes, 2 * kLogBytesMax))
    return {Code::kInvalidArgument,
            "the limit must be at most four times the memory at start, and 8 TiB"};
  memory_limit_ = bytes;
  UpdateLogBudget();
  return Status::Ok();
}

void Store::Flush(Session& session, uint32_t at_s) {
  const bool is_put_off = at_s > session.now_s();
  uint32_t was = flush_at_s_;
  while (was == kFlushUnderWay ||
         !flush_at_s_.compare_exchange_strong(was, is_put_off ? at_s : 0)) {
    WaitForFlush(flush_at_s_);
    was = flush_at_s_;
  }
  if (is_put_off) return;
  log_->Flush();
  // Not the index's view: positions that a batch has noted are of that one.
  session.RefreshLog();
}

void Store::FlushDue(uint32_t due) {
  if (due == kFlushUnderWay || !flush_at_s_.compare_exchange_strong(due, kFlushUnderWay))
    return WaitForFlush(flush_at_s_);
  log_->Flush();
  flush_at_s_ = 0;
}

uint64_t Store::ItemCount() const {
  const int64_t items = items_.load(std::memory_order_relaxed);
  return items < 0 ? 0 : static_cast<uint64_t>(items);
}

void Store::Maintain(Session& session, uint32_t writes) {
  Maintain(session, writes, base::NowSeconds());
}

void Store::Maintain(Session& session, uint32_t writes, uint32_t now_s) {
  FlushIfDue(now_s);
  ExpireWhenDue(session, now_s);
  if (log_->shortage().lasts.load(std::memory_order_relaxed)) log_->AskForPages(now_s);
  if (writes != 0) {
    EvictAhead(session, writes);
    StartGrowthIfCrowded();
  }
  GrowIndex(session, writes);
}

// Whether who makes room has copied much since `gain` and has gained nothing. What others have
// under way may be a gain.
bool Store::IsInVain(const Session& session, Gain* gain) const {
  const uint32_t free = log_->SegmentsFreeSoon();
  if (free > gain->free || log_->SegmentsEvicting() != 0) {
    *gain = {std::max(free, gain->free), session.carried_bytes()};
    return false;
  }
  const uint64_t copied = session.carried_bytes() - gain->carried_bytes;
  return copied >= kVainSegments * log_->geometry().segment_bytes;
}

bool Store::MakeRoom(Session& session, uint64_t bytes, Room room, uint64_t spared) {
  session.counters().room_made.Add(1);
  const uint32_t needed = log_->SegmentsNeeded(bytes) + 1;
  const uint32_t spared_segment = spared == 0 ? 0 : log_->SegmentOf(spared);
  const uint32_t emptied_max = kEmptiedMin + kEmptiedPerSegment * needed;
  Gain gain{log_->SegmentsFreeSoon(), session.carried_bytes()};
  bool sealed = false;
  // A device that hangs stays in its epoch for good: each store that it holds up would wait anew.
  const uint64_t oldest = epochs_.Oldest();
  const bool is_held = oldest == held_epoch_.load(std::memory_order_relaxed);
  const uint64_t wait_ns = is_held ? kHeldRoomWaitNs : kRoomWaitNs;
  uint64_t waited_ns = 0;
  for (uint32_t emptied = 0; waited_ns < wait_ns && emptied < emptied_max;) {
    StartGrowthIfCrowded();
    GrowIndex(session, 1024);
    log_->Reclaim();
    const bool is_enough = log_->SegmentsAvailable(room) >= needed;
    // Scattered room is none for a large object: more goes then, until neighbours are free.
    const bool has_room = is_enough && log_->HasNeighbours(needed - 1);
    const bool grows = index_->growing() && !index_->waits_for_room();
    if (has_room && !grows && (!growth_wanted_.load() || index_->growing())) return true;
    // Who met a full table while it grew, or before it could begin, waits until it has grown.
    const bool is_planned = growth_planned_.load() && growth_wanted_.load() && log_->over_budget();
    if (has_room && options_.evict && !index_->preparing() && !is_planned &&
        !(index_->growing() && growth_wanted_.load()))
      return true;
    const bool is_short = log_->SegmentsAvailable(room) + log_->SegmentsRetired() < needed;
    Freed freed = Freed::kNoneNow;
    if (is_short || (is_enough && !has_room) || (is_planned && log_->SegmentsRetired() == 0))
      freed = EvictOne(session, false, spared_segment);
    if (is_planned) log_->GiveBackOne();
    if (freed == Freed::kOne) {
      emptied++;
      if (!options_.evict && !is_enough && IsInVain(session, &gain)) return false;
      continue;
    }
    // Asked in this order: what another thread retires it held as a victim before.
    if (freed == Freed::kNothing && log_->SegmentsRetired() == 0 && !grows) {
      // What is left may be in open segments of other groups.
      if (sealed || !log_->SealForRoom(base::NowSeconds()))
        return log_->SegmentsAvailable(room) >= needed && log_->HasNeighbours(needed - 1);
      sealed = true;
      continue;
    }
    // Another batch may still see what was freed: it ends within its own short time. Many may wait
    // for the little that comes, so as long as little does, who waits makes more.
    const uint64_t start_ns = base::NowNs();
    if (!EvictPortion(session, kWritesOfWaiting, spared_segment))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    waited_ns += std::min(base::NowNs() - start_ns, wait_ns / kRoomLooksMin);
  }
  if (waited_ns >= kRoomWaitNs && oldest != UINT64_MAX && oldest == epochs_.Oldest())
    held_epoch_.store(oldest, std::memory_order_relaxed);
  return false;
}

Reply ExecuteWithRoom(Session& session, const Command& command) {
  constexpr int kTries = 32;
  Store& store = session.store();
  Reply reply = store.Execute(session, command);
  for (int i = 0; reply.needs_room && i < kTries; i++) {
    session.End();
    const bool made = store.MakeRoomFor(session, reply);
    session.Begin();
    if (made) reply = store.Execute(session, command);
    reply.made_room = true;
    if (!made) break;
  }
  reply.needs_room = false;
  return reply;
}

void Store::SumCounters(SessionCounters* total) const {
  base::MutexLock lock(&sessions_mutex_);
  total->AddAll(retired_counters_);
  for (const Session* session : sessions_) total->AddAll(session->counters());
}

// Holes count as live. Sessions keep those of freed segments until they come upon them, so this may
// be too small by the holes' share.
uint64_t Store::LiveBytes() const {
  uint64_t hole_units = 0;
  {
    base::MutexLock lock(&sessions_mutex_);
    for (const Session* session : sessions_) hole_units += session->hole_units();
  }
  const uint64_t counted_bytes = log_->live_bytes();  // of another moment
  return counted_bytes - std::min(counted_bytes, hole_units * kLocationUnitBytes);
}

// Of one moment: what tables and log give each other is counted once.
uint64_t Store::MemoryBytes() const {
  const auto tables = [this] {
    return ghosts_->bytes() + log_->table_bytes() + index_->table_bytes();
  };
  for (;;) {  // Ends: tables grow a few times.
    const uint64_t before = tables();
    const uint64_t resident = log_->resident_bytes();
    if (tables() == before) return before + resident;
  }
}

CacheStats Store::Stats() const {
  CacheStats stats;
  stats.items = ItemCount();
  stats.object_bytes = LiveBytes();
  stats.memory_bytes = MemoryBytes();
  stats.index_buckets = index_->bucket_count();
  SessionCounters counters;
  SumCounters(&counters);
  stats.evictions = counters.evictions.value();
  stats.expired = counters.expired.value();
  stats.carried = counters.carried.value();
  stats.ghosts_stored = counters.ghosts_stored.value();
  stats.eviction_age_p10_s = eviction_ages_.Percentile(10);
  stats.eviction_age_p50_s = eviction_ages_.Percentile(50);
  stats.eviction_age_p90_s = eviction_ages_.Percentile(90);
  stats.eviction_age_last_s = eviction_ages_.last_s();
  return stats;
}

}  // namespace weft::cache
