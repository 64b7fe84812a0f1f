#include "tier/disk_tier.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/posix_fd.h"
#include "base/thread.h"

namespace weft::tier {
namespace {

// How far the bound of versions is raised: a crash leaves out so many of them at most, and clients
// that keep 32 bits of a version have four billion. Twice as far each time within a second, so that
// the sync which it takes stays rare.
constexpr uint64_t kVersionStepMin = uint64_t{1} << 16;
constexpr uint64_t kVersionStepMax = uint64_t{1} << 22;
constexpr uint64_t kVersionStepNs = 1'000'000'000;
constexpr int kFilterBitsPerKey = 10;
constexpr size_t kTableBytes = size_t{8} << 20;
constexpr size_t kLookupsAtOnce = 16;

// Longer than any key, and above all of that length.
const std::string kAfterAllKeys(kKeyBytesMax + 1, '\xff');

Status About(const std::string& dir, const Status& status) {
  return {status.code(), "--data " + dir + ": " + std::string(status.message())};
}

// Of all that the tier reads: the disk may give other bytes than were written.
ReadOptions Checked() { return {.verify_checksums = true}; }

// The store's own answer has no message; that of a file which is gone has one.
bool IsAbsent(const Status& status) {
  return status.code() == Code::kNotFound && status.message().empty();
}

// What was found before it took all the room (ReadOptions::value_bytes_max).
bool IsLeftOut(const Status& status) { return status.code() == Code::kRetryLater; }

// A key that came as base64 may be any bytes.
std::string KeyText(std::string_view key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : key) {
    if (c > ' ' && c <= '~' && c != '\\') {
      text += c;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

Status NotOfACache() {
  return {Code::kInvalidArgument, "the folder holds a store that is not a cache's"};
}

// Whether what was found under `key` is an item.
Status CheckItem(std::string_view key, std::string_view bytes) {
  Item item;
  if (DecodeItem(bytes, &item)) return {};
  return {Code::kCorruption, "the value of the key " + KeyText(key) + " is not an item"};
}

// What the store of a cache holds under kStateKey; none in a new one. A store that has keys and no
// state was made by somebody else.
Status FindState(Db* db, std::optional<State>* state) {
  std::string bytes;
  const Status status = db->Get(Checked(), kStateKey, &bytes);
  if (status.ok()) {
    return DecodeState(bytes, &state->emplace()) ? Status() : NotOfACache();
  }
  if (!IsAbsent(status)) return status;
  const std::unique_ptr<Iterator> first = db->NewIterator(Checked());
  first->SeekToFirst();
  return first->Valid() ? NotOfACache() : first->status();
}

// Whether the opening is to tell what kept the tier from looking into a store. It refuses damage,
// and a store that another process writes to, in better words.
bool IsForOpening(const Status& status) {
  return status.code() == Code::kCorruption || status.code() == Code::kNotFound ||
         (status.code() == Code::kRetryLater && !base::IsWantOfDescriptors(status));
}

// Before anything of a store is changed that may be somebody else's.
Status CheckIsOfACache(DbOptions options, const std::string& dir) {
  options.listeners.clear();
  std::optional<State> state;
  auto db = Db::OpenReadOnly(options, dir);
  // There is none, or none that an opening takes.
  if (!db && db.error().code() == Code::kInvalidArgument) return {};
  Status status = db ? FindState(db->get(), &state) : db.error();
  return IsForOpening(status) ? Status() : status;
}

}  // namespace

class DiskTier::FailureListener final : public EventListener {
 public:
  explicit FailureListener(DiskTier* tier) : tier_(tier) {}
  void OnBackgroundError(const Status& status) override {
    if (!tier_->failed_.exchange(true) && tier_->options_.on_failure)
      tier_->options_.on_failure(status);
  }
  void OnDamage(const std::string&, uint64_t, const Status& what) override {
    if (tier_->options_.on_loss) tier_->options_.on_loss(what);
  }

 private:
  DiskTier* const tier_;
};

DiskTier::DiskTier(const TierOptions& options, cache::Store* cache)
    : options_(options),
      cache_(cache),
      read_errors_(options.on_read_error),
      version_step_(kVersionStepMin) {}

Result<std::unique_ptr<DiskTier>> DiskTier::Open(const TierOptions& options, cache::Store* cache) {
  // The constructor is private so that no tier exists half open; owned at once.
  auto tier = std::unique_ptr<DiskTier>(new DiskTier(options, cache));
  Status status = tier->OpenDb();
  if (status.ok()) status = tier->ReadState();
  if (!status.ok()) return About(options.dir, status);
  if (options.sync_ms != 0) {
    auto syncer = base::StartThread([tier = tier.get()] { tier->SyncInBackground(); });
    if (!syncer) return About(options.dir, syncer.error());
    tier->syncer_ = std::move(*syncer);
  }
  return tier;
}

DiskTier::~DiskTier() {
  StopSyncing();
  // Nobody is left to be told of an error; the store's log is. A store that was refused is left as
  // it is: it may be damaged, or somebody else's.
  if (has_state_) (void)End();
  db_.reset();  // its threads call back until it is gone
}

void DiskTier::StopSyncing() {
  if (!syncer_.joinable()) return;
  {
    base::MutexLock lock(&syncer_mutex_);
    closing_ = true;
    syncer_wake_.NotifyOne();
  }
  syncer_.join();
}

Result<uint64_t> DiskTier::End() {
  StopSyncing();
  const bool is_ours = std::exchange(has_state_, false);
  if (!is_ours || failed()) return Status(Code::kIoError, "changes were refused");
  Status status = EndVersions();
  if (status.ok()) status = Sync();
  // Without the flush the next start would read the log.
  if (status.ok()) status = db_->Flush();
  if (!status.ok()) return status;
  return Sequence();
}

uint64_t DiskTier::Sequence() const {
  const Snapshot* const now = db_->GetSnapshot();
  const uint64_t sequence = now->sequence();
  db_->ReleaseSnapshot(now);
  return sequence;
}

DbOptions DiskTier::MakeDbOptions() {
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = options_.file_system;
  options.write_buffer_size = options_.write_buffer_bytes;
  options.max_file_size = kTableBytes;
  options.level1_bytes_max = 4 * options_.write_buffer_bytes;
  options.compaction_device = options_.compaction_device;
  options.compaction_direct_io = options_.compaction_direct_io;
  options.block_cache = NewLruBlockCache(options_.block_cache_bytes);
  options.filter_policy = NewBloomFilterPolicy(kFilterBitsPerKey);
  options.copy_indexes = true;
  options.lifetime = ValueLifetime{
      kExpiryOffset, kGenerationOffset, [this] {
        return ValueLifetime::Limits{base::NowSeconds(), floor_.load(std::memory_order_acquire)};
      }};
  options.listeners.push_back(std::make_shared<FailureListener>(this));
  return options;
}

Status DiskTier::OpenDb() {
  if (Status status = CheckIsOfACache(MakeDbOptions(), options_.dir); !status.ok()) return status;
  Result<std::unique_ptr<Db>> db = Db::Open(MakeDbOptions(), options_.dir);
  if (!db) return db.error();
  db_ = std::move(*db);
  opened_at_ = Sequence();
  return {};
}

// The state, or that of a new store.
Status DiskTier::ReadState() {
  base::MutexLock lock(&state_mutex_);
  std::optional<State> found;
  Status status = FindState(db_.get(), &found);
  if (!status.ok()) return status;
  State state = found.value_or(State());
  cache_->KeepVersions(state.version_bound);
  state.version_bound += version_step_;
  // A flush that was cut short has raised the generation of some items, and not the floor: the next
  // one must take them too.
  const uint32_t generation = std::max(state.generation_bound, state.floor);
  generation_ = generation;
  state.generation_bound = generation + 2;
  floor_ = state.floor;
  flush_at_s_ = state.flush_at_s;
  status = WriteStateLocked(state);
  has_state_ = status.ok();
  return status;
}

// Always synced: a version that a client saw must not come again, after a power cut neither.
Status DiskTier::WriteStateLocked(const State& state) {
  Status status = Note(db_->Put({.sync = true}, kStateKey, EncodeState(state)));
  if (!status.ok()) return status;
  state_ = state;
  // Relaxed: each is compared with versions that the reader has seen given out.
  version_bound_.store(state.version_bound, std::memory_order_relaxed);
  raise_versions_at_.store(state.version_bound - std::min(state.version_bound, version_step_ / 2),
                           std::memory_order_relaxed);
  return status;
}

// Before a write: all versions in it are below the bound when this returns.
Status DiskTier::KeepVersionsBelowBound() {
  const uint64_t next = cache_->log().next_version();
  if (next < raise_versions_at_.load(std::memory_order_relaxed)) return {};
  // One raises it ahead, while the others go on; who has come to it waits.
  const bool has_come_to_it = next > version_bound_.load(std::memory_order_relaxed);
  if (raises_versions_.exchange(true, std::memory_order_relaxed) && !has_come_to_it) return {};
  Status status = RaiseVersionBound();
  raises_versions_.store(false, std::memory_order_relaxed);
  return status;
}

Status DiskTier::RaiseVersionBound() {
  base::MutexLock lock(&state_mutex_);
  const uint64_t next = cache_->log().next_version();
  // Whoever waited here for another one finds it raised.
  if (next < raise_versions_at_.load(std::memory_order_relaxed)) return {};
  const uint64_t now_ns = base::NowNs();
  version_step_ = now_ns - versions_raised_ns_ < kVersionStepNs
                      ? std::min(2 * version_step_, kVersionStepMax)
                      : kVersionStepMin;
  versions_raised_ns_ = now_ns;
  State state = state_;
  // Never down: the others go on below the bound in force while this one is written.
  state.version_bound = std::max(state.version_bound, next + version_step_);
  return WriteStateLocked(state);
}

// No more are given out: the next process goes on with the next one.
Status DiskTier::EndVersions() {
  base::MutexLock lock(&state_mutex_);
  State state = state_;
  state.version_bound = cache_->log().next_version();
  return WriteStateLocked(state);  // else it leaves some out, as after a crash
}

// The log thread tells of a failure a moment late: who meets it first shuts the door.
Status DiskTier::Note(Status status) {
  if (status.ok()) return status;
  write_errors_.fetch_add(1, std::memory_order_relaxed);
  if (!failed_.exchange(true) && options_.on_failure) options_.on_failure(status);
  return status;
}

Status DiskTier::Write(WriteBatch* changes) {
  if (Status status = KeepVersionsBelowBound(); !status.ok()) return status;
  Status status = db_->Write({}, changes);
  // That is what the store says of a batch which it can't take, and of nothing else: the next one
  // may be sound.
  if (status.code() == Code::kInvalidArgument) return status;
  if (status = Note(std::move(status)); !status.ok()) return status;
  changes_.fetch_add(changes->Count(), std::memory_order_relaxed);
  batches_.fetch_add(1, std::memory_order_relaxed);
  unsynced_writes_.fetch_add(1, std::memory_order_release);
  return status;
}

Status DiskTier::Sync() {
  WriteBatch nothing;
  return Note(db_->Write({.sync = true}, &nothing));
}

void DiskTier::SyncInBackground() {
  base::SetThreadName("weft-sync");
  base::MutexLock lock(&syncer_mutex_);
  while (!closing_ && !failed()) {
    syncer_wake_.WaitFor(&syncer_mutex_, static_cast<int>(options_.sync_ms));
    if (unsynced_writes_.exchange(0, std::memory_order_acquire) == 0) continue;
    syncer_mutex_.Unlock();
    (void)Sync();  // noted: changes are refused from then on
    syncer_mutex_.Lock();
  }
}

void DiskTier::Answer(Lookup* lookup) {
  std::vector<Asked>& asked = lookup->asked();
  std::vector<DbLookup> lookups;
  std::vector<Asked*> part;
  size_t bytes = 0;
  for (size_t next = 0; next < asked.size() && bytes < lookup->bytes_max();) {
    part.clear();
    for (size_t i = next; i < asked.size() && part.size() < kLookupsAtOnce; i++)
      if (asked[i].answered == Answered::kNot) part.push_back(&asked[i]);
    lookups.assign(part.size(), {});
    for (size_t i = 0; i < part.size(); i++) {
      part[i]->changes = stripes_.SettledChanges(Stripes::Of(part[i]->hash));
      lookups[i].key = part[i]->key;
    }
    ReadOptions options = Checked();
    options.value_bytes_max = lookup->bytes_max() - bytes;
    db_->MultiGet(options, lookups);
    for (size_t i = 0; i < part.size(); i++) {
      // The first one never is: whatever it got is its answer, or this would go on for ever.
      if (i != 0 && IsLeftOut(lookups[i].status)) continue;
      Take(&lookups[i], part[i]);
      bytes += Lookup::kAnswerBytes + part[i]->bytes.size();
    }
    // At least the first of the part was answered.
    while (next < asked.size() && asked[next].answered != Answered::kNot) next++;
  }
}

void DiskTier::AnswerLocked(Asked* asked) {
  DbLookup lookup;
  lookup.key = asked->key;
  asked->changes = stripes_.changes(Stripes::Of(asked->hash));
  db_->MultiGet(Checked(), {&lookup, 1});
  Take(&lookup, asked);
}

void DiskTier::Take(DbLookup* lookup, Asked* asked) {
  lookups_.fetch_add(1, std::memory_order_relaxed);
  Status status = std::move(lookup->status);
  if (status.ok()) status = CheckItem(asked->key, lookup->value);
  asked->answered = status.ok()        ? Answered::kItem
                    : IsAbsent(status) ? Answered::kAbsent
                                       : Answered::kError;
  if (asked->answered == Answered::kError) read_errors_.Note(status, base::NowNs());
  asked->bytes = std::move(lookup->value);
}

cache::Miss DiskTier::WhyEnded(const Item& item, uint32_t now_s) const {
  return item.expiry != 0 && item.expiry <= now_s ? cache::Miss::kExpired : cache::Miss::kFlushed;
}

Status DiskTier::Flush(uint32_t at_s, uint32_t now_s) {
  if (failed()) return {Code::kIoError, "the durable store no longer accepts changes"};
  base::MutexLock lock(&flush_mutex_);
  return at_s <= now_s ? FlushLocked(false) : NoteFlushLocked(at_s);
}

void DiskTier::FlushDue(uint32_t now_s) {
  base::MutexLock lock(&flush_mutex_);
  if (FlushIsDue(now_s)) (void)FlushLocked(true);  // an error is told by Note
}

Status DiskTier::FlushLocked(bool in_memory_at_least) {
  const uint32_t floor = generation() + 1;
  // What is changed between the two comes before the flush, and goes with it. If the process ends
  // there, nobody was told of the flush.
  Status status = WriteFloor(floor);
  if (!status.ok() && !in_memory_at_least) return status;
  // At once for all who change keys: an item that one of them found alive, in memory or below, and
  // has made another one of, must not carry the new generation or be entered behind the flush.
  stripes_.Alone([&] {
    generation_.store(floor, std::memory_order_release);
    floor_.store(floor, std::memory_order_release);
    flush_at_s_.store(0, std::memory_order_relaxed);
    cache_->log().Flush();
  });
  return status;
}

Status DiskTier::WriteFloor(uint32_t floor) {
  base::MutexLock lock(&state_mutex_);
  State state = state_;
  state.floor = floor;
  state.generation_bound = floor + 2;  // above what the next flush raises it to
  state.flush_at_s = 0;
  return WriteStateLocked(state);
}

Status DiskTier::NoteFlushLocked(uint32_t at_s) {
  base::MutexLock lock(&state_mutex_);
  State state = state_;
  state.flush_at_s = at_s;
  Status status = WriteStateLocked(state);
  if (status.ok()) flush_at_s_.store(at_s, std::memory_order_relaxed);
  return status;
}

TierStats DiskTier::Stats() const {
  TierStats stats;
  stats.lookups = lookups_.load(std::memory_order_relaxed);
  stats.lookup_hits = lookup_hits_.load(std::memory_order_relaxed);
  stats.lookup_ended = lookup_ended_.load(std::memory_order_relaxed);
  stats.lookup_errors = read_errors_.total();
  stats.loads = loads_.load(std::memory_order_relaxed);
  stats.waits = waits_.load(std::memory_order_relaxed);
  stats.changes = changes_.load(std::memory_order_relaxed);
  stats.batches = batches_.load(std::memory_order_relaxed);
  stats.write_errors = write_errors_.load(std::memory_order_relaxed);
  stats.failed = failed();
  stats.generation = generation_.load(std::memory_order_relaxed);
  const KeyRange all{kStateKey, kAfterAllKeys};
  db_->GetApproximateSizes({&all, 1}, {&stats.disk_bytes, 1});
  std::string count;
  for (int level = 0;
       db_->GetProperty("leveldb.num-files-at-level" + std::to_string(level), &count); level++) {
    stats.level_files += (level == 0 ? "" : " ") + count;
  }
  stats.db = db_->Statistics();
  return stats;
}

}  // namespace weft::tier
