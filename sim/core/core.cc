#include "sim/core/core.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weft::sim {
namespace {

constexpr uint64_t kLineBytes = CacheShape::kLineBytes;

bool IsForKeyOrValue(AccessClass cls) {
  return cls >= AccessClass::kBucket && cls <= AccessClass::kObjectBody;
}

}  // namespace

Status Validate(const CoreOptions& options) {
  if (options.width < 1 || options.plain_slots < 1 || options.width % options.plain_slots != 0) {
    return {Code::kInvalidArgument,
            "core: a cycle's width must be a whole number of plain instructions"};
  }
  if (options.window < options.width || options.store_buffer < 1 || options.cycle < 1) {
    return {Code::kInvalidArgument,
            "core: the window must hold a cycle's instructions, and the store buffer a store"};
  }
  if (options.ops_max < 0 || options.warmup_ops < 0 ||
      (options.ops_max > 0 && options.warmup_ops >= options.ops_max)) {
    return {Code::kInvalidArgument, "core: no operation is left to measure after the warm-up"};
  }
  return Status::Ok();
}

Core::Core(int number, const CoreOptions& options, const CoreLimits& limits, TraceSource& source,
           L1Cache& l1, CorePort* port)
    : number_(number), options_(options), limits_(limits), source_(source), l1_(l1), port_(port) {}

void Core::Step() {
  SkipTo(cycle_ + skip_);
  Retire();
  TakeIn();
  StartOne();
  figures_.cycles += ops_retired_ >= options_.warmup_ops;
  ++cycle_;
  is_done_ =
      has_ended_ && instructions_ == 0 && head_ == tail_ && stores_.empty() && l1_.under_way() == 0;
  skip_ = is_done_ ? kForever : options_.skips ? CyclesToSkip() : 0;
}

bool Core::IsRetirable(const Entry& entry) const {
  return entry.is_mark ||
         (entry.access == Access::kStore ? has_store_room() : entry.done <= cycle_);
}

void Core::Retire() {
  const bool was_empty = instructions_ == 0;
  int left = options_.width;
  while (head_ != tail_) {
    Entry& entry = At(head_);
    const int plains = std::min(left, entry.plains);
    entry.plains -= plains;
    left -= plains;
    if (entry.plains > 0) break;
    if (entry.is_mark) {
      PerformMark(entry.mark);
    } else {
      if (left == 0 || !IsRetirable(entry)) break;
      if (entry.access == Access::kStore) stores_.push_back({entry.line, entry.waiter});
      --left;
    }
    ++head_;
  }
  if (head_ == tail_) {
    const int plains = std::min(left, tail_plains_);
    tail_plains_ -= plains;
    left -= plains;
  }
  const int retired = options_.width - left;
  instructions_ -= retired;
  if (ops_retired_ < options_.warmup_ops) return;
  figures_.instructions += retired;
  figures_.stalled_cycles += !was_empty && retired == 0;
}

void Core::PerformMark(const Record& mark) {
  const Time now = cycle_ * options_.cycle;
  if (mark.kind != RecordKind::kOpEnd) {
    port_->OnMark(number_, mark, now);
    return;
  }
  const int64_t began = op_begins_.front();
  op_begins_.pop_front();
  if (ops_retired_++ >= options_.warmup_ops) {
    figures_.op_cycles.push_back(static_cast<uint32_t>(cycle_ - began));
  }
  port_->OnOpEnd(number_, now);
}

void Core::TakeIn() {
  int slots = options_.width;
  while (true) {
    if (gap_left_ > 0) {
      const int room = std::min(slots / options_.plain_slots, options_.window - instructions_);
      const int plains = static_cast<int>(std::min(static_cast<uint32_t>(room), gap_left_));
      gap_left_ -= static_cast<uint32_t>(plains);
      tail_plains_ += plains;
      instructions_ += plains;
      slots -= plains * options_.plain_slots;
      if (gap_left_ > 0) return;
    }
    if (!has_record_) {
      if (!NextRecord()) return;
      continue;
    }
    if (!has_entry_room()) return;
    if (!record_.IsAccess()) {
      TakeInMark();
      continue;
    }
    if (slots == 0 || instructions_ == options_.window) return;
    TakeInAccess();
    --slots;
  }
}

bool Core::NextRecord() {
  if (has_ended_) return false;
  const bool is_over = options_.ops_max > 0 && ops_ended_ == options_.ops_max;
  Result<bool> next = is_over ? Result<bool>(false) : source_.Next(number_, &record_);
  if (!next || !next.value()) {
    if (!next) status_ = next.error();
    has_ended_ = true;
    return false;
  }
  Status status = Check(record_);
  if (!status.ok()) {
    status_ = {status.code(), "core " + std::to_string(number_) + ", record " +
                                  std::to_string(records_ + 1) + ": " +
                                  std::string(status.message())};
    has_ended_ = true;
    return false;
  }
  ++records_;
  has_record_ = true;
  gap_left_ = record_.gap;
  lines_taken_in_ = 0;
  return true;
}

Status Core::Check(const Record& record) const {
  const auto is_wrong = [](const std::string& what) {
    return Status(Code::kInvalidArgument, what);
  };
  if (record.IsAccess()) {
    if (record.size == 0) return is_wrong("an access of no bytes");
    const uint64_t last = record.addr + record.size - 1;
    if (last < record.addr || last / kLineBytes >= limits_.lines) {
      return is_wrong("address " + std::to_string(record.addr) + " and " +
                      std::to_string(record.size) + " bytes: beyond the memory, which has " +
                      std::to_string(limits_.lines * kLineBytes));
    }
    if (record.dep > accesses_) return is_wrong("depends on what is before the first access");
    return Status::Ok();
  }
  switch (record.kind) {
    case RecordKind::kKey:
      if (record.addr / kLineBytes < limits_.lines) return Status::Ok();
      return is_wrong("a key of a bucket beyond the memory");
    case RecordKind::kHit:
    case RecordKind::kSlot:
    case RecordKind::kChain:
      if (record.aux >= limits_.buckets) {
        return is_wrong("bucket " + std::to_string(record.aux) + " of " +
                        std::to_string(limits_.buckets));
      }
      if (record.slot < limits_.slots_per_bucket) return Status::Ok();
      if (record.kind == RecordKind::kHit && record.slot == kNoSlot) return Status::Ok();
      return is_wrong("slot " + std::to_string(record.slot) + " of " +
                      std::to_string(limits_.slots_per_bucket));
    case RecordKind::kOpEnd:
      if (ops_ended_ < ops_begun_) return Status::Ok();
      return is_wrong("the end of an operation that hasn't begun");
    case RecordKind::kOpBegin: return Status::Ok();
    default: return is_wrong("an unknown kind of record");
  }
}

Status EndsInFastForward(int core) {
  return {Code::kInvalidArgument, "core " + std::to_string(core) +
                                      ": the trace ended among the operations that take no time"};
}

void Core::PassOver() {
  has_record_ = false;
  gap_left_ = 0;
  if (record_.IsAccess()) producers_[static_cast<size_t>(accesses_++) % kProducers] = {};
  ops_begun_ += record_.kind == RecordKind::kOpBegin;
  ops_begun_ -= record_.kind == RecordKind::kOpEnd;
}

void Core::TakeInMark() {
  has_record_ = false;
  if (record_.kind == RecordKind::kOpBegin) {
    ++ops_begun_;
    op_begins_.push_back(cycle_);
    return;
  }
  ops_ended_ += record_.kind == RecordKind::kOpEnd;
  Entry& entry = At(tail_++);
  entry.plains = std::exchange(tail_plains_, 0);
  entry.is_mark = true;
  entry.mark = record_;
}

void Core::TakeInAccess() {
  const uint64_t number = tail_++;
  Entry& entry = At(number);
  entry.plains = std::exchange(tail_plains_, 0);
  entry.is_mark = false;
  entry.access = static_cast<Access>(record_.kind);
  if (record_.kind == RecordKind::kWrite) entry.access = Access::kStore;
  if (record_.kind == RecordKind::kPrefetch) entry.access = Access::kPrefetch;
  entry.done = kForever;
  entry.line = record_.addr / kLineBytes + static_cast<uint64_t>(lines_taken_in_);
  entry.waiter = {.access = entry.access,
                  .cls = static_cast<uint8_t>(record_.cls),
                  .is_measured = ops_ended_ >= options_.warmup_ops,
                  .token = number};
  const Producer none;
  const Producer& dep = record_.dep == 0
                            ? none
                            : producers_[static_cast<size_t>(accesses_ - record_.dep) % kProducers];
  entry.dep_first = dep.first;
  entry.dep_last = dep.last;
  if (options_.keeps_kv_latencies && entry.access != Access::kStore &&
      IsForKeyOrValue(record_.cls) && entry.waiter.is_measured) {
    entry.waiter.ordinal = static_cast<uint32_t>(figures_.kv_latencies.size());
    figures_.kv_latencies.push_back(0);
  }
  if (entry.access != Access::kStore) not_started_.push_back(number);
  ++instructions_;
  if (++lines_taken_in_ < LinesOf(record_)) return;
  has_record_ = false;
  Producer& made = producers_[static_cast<size_t>(accesses_++) % kProducers];
  made = none;
  if (entry.access == Access::kLoad) {
    made = {number + 1 - static_cast<uint64_t>(lines_taken_in_), number};
  }
}

bool Core::HasItsData(const Entry& entry) const {
  for (uint64_t dep = std::max(entry.dep_first, head_); dep <= entry.dep_last; ++dep) {
    if (At(dep).done > cycle_) return false;
  }
  return true;
}

void Core::StartOne() {
  has_started_ = false;
  for (auto number = not_started_.begin(); number != not_started_.end(); ++number) {
    Entry& entry = At(*number);
    if (!HasItsData(entry)) continue;
    has_started_ = StartEntry(entry);
    if (has_started_) not_started_.erase(number);
    break;
  }
  if (!has_started_ && !stores_.empty()) has_started_ = StartStore();
}

bool Core::StartEntry(Entry& entry) {
  entry.waiter.started = cycle_;
  const L1Cache::Outcome outcome = l1_.Start(entry.line, entry.waiter);
  if (outcome == L1Cache::Outcome::kFull) return false;
  if (outcome == L1Cache::Outcome::kMiss) Ask(entry.line, entry.waiter);
  if (outcome == L1Cache::Outcome::kHit || entry.access == Access::kPrefetch) {
    entry.done = cycle_ + 1;
  }
  if (outcome == L1Cache::Outcome::kHit && entry.waiter.is_measured) {
    if (entry.access == Access::kLoad) figures_.reads.Add(1);
    const auto cls = static_cast<AccessClass>(entry.waiter.cls);
    if (options_.keeps_kv_latencies && IsForKeyOrValue(cls)) {
      figures_.kv_latencies[entry.waiter.ordinal] = 1;
    }
  }
  return true;
}

bool Core::StartStore() {
  Store& store = stores_.front();
  store.waiter.started = cycle_;
  const L1Cache::Outcome outcome = l1_.Start(store.line, store.waiter);
  if (outcome == L1Cache::Outcome::kFull) return false;
  if (outcome == L1Cache::Outcome::kMiss) Ask(store.line, store.waiter);
  stores_under_way_ += outcome != L1Cache::Outcome::kHit;
  stores_.pop_front();
  return true;
}

void Core::Ask(uint64_t line, const Waiter& waiter) {
  port_->AskL2({.line = line,
                .core = number_,
                .cls = static_cast<AccessClass>(waiter.cls),
                .owns = waiter.access == Access::kStore,
                .is_measured = waiter.is_measured},
               (cycle_ + 1) * options_.cycle);
}

void Core::Filled(const L1Cache::Filled& filled, bool from_memory, Time now) {
  SkipTo((now + options_.cycle - 1) / options_.cycle);
  skip_ = 0;
  bool is_miss = true;
  std::vector<Store> again;
  for (const Waiter& waiter : filled.waiters) {
    if (waiter.access == Access::kStore) {
      --stores_under_way_;
      if (filled.retries_stores) again.push_back({filled.line, waiter});
    } else {
      if (waiter.access == Access::kLoad) At(waiter.token).done = cycle_;
      if (waiter.is_measured) Count(waiter, is_miss, from_memory);
    }
    is_miss = false;
  }
  stores_.insert(stores_.begin(), again.begin(), again.end());
}

void Core::Count(const Waiter& waiter, bool is_miss, bool from_memory) {
  const int64_t cycles = cycle_ - waiter.started;
  const bool is_kv = IsForKeyOrValue(static_cast<AccessClass>(waiter.cls));
  if (waiter.access == Access::kLoad) figures_.reads.Add(cycles);
  if (is_miss) figures_.misses.Add(cycles);
  if (is_miss && is_kv) figures_.kv_misses.Add(cycles);
  if (is_kv && options_.keeps_kv_latencies) {
    figures_.kv_latencies[waiter.ordinal] =
        static_cast<uint32_t>(cycles) | (is_miss && from_memory ? CoreFigures::kFromMemory : 0);
  }
}

}  // namespace weft::sim
