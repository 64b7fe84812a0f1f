#include "sim/record/access_recorder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "task/columns.h"
#include "task/search.h"

namespace weft::sim {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kDepMax = UINT8_MAX;

thread_local AccessRecorder* recorder_of_thread = nullptr;

// Nothing is recorded while the recorder itself looks at the store.
class Pause {
 public:
  Pause() : kept_(std::exchange(recorder_of_thread, nullptr)) {}
  ~Pause() { recorder_of_thread = kept_; }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  AccessRecorder* const kept_;
};

const uint8_t* Bytes(const void* at) { return static_cast<const uint8_t*>(at); }

}  // namespace

AccessRecorder::AccessRecorder(ArenaMap arenas, const task::IndexRef& index,
                               const task::LogRef& log, const Gaps& gaps, int cores)
    : arenas_(std::move(arenas)),
      index_(index),
      log_(log),
      gaps_(gaps),
      cores_(static_cast<size_t>(cores)),
      table_(index.older.bucket_count, kBucketSlots) {
  const Pause pause;
  for (uint64_t bucket = 0; bucket < index.older.bucket_count; ++bucket) {
    for (int slot = 0; slot < kBucketSlots; ++slot) {
      table_.At(bucket, slot) =
          SlotOfWord(task::LoadAcquire64(&index.older.buckets[bucket].slots[slot]));
    }
  }
}

AccessRecorder::~AccessRecorder() { WEFT_CHECK(recorder_of_thread != this); }

AccessRecorder* AccessRecorder::OfThread() { return recorder_of_thread; }

void AccessRecorder::Begin(int core) {
  WEFT_CHECK(recorder_of_thread == nullptr);
  core_ = core;
  recorder_of_thread = this;
}

void AccessRecorder::End() {
  WEFT_CHECK(recorder_of_thread == this);
  recorder_of_thread = nullptr;
}

std::vector<Record> AccessRecorder::TakeRecords(int core) {
  return std::exchange(cores_[static_cast<size_t>(core)].records, {});
}

uint64_t AccessRecorder::instructions() const {
  uint64_t instructions = 0;
  for (const Core& core : cores_) instructions += core.instructions;
  return instructions;
}

void AccessRecorder::BeginOp(const Operation& operation) {
  Lookup lookup{.operation = operation};
  const uint64_t buckets = index_.older.bucket_count;
  lookup.buckets[0] = task::FirstBucket(operation.hash, buckets);
  lookup.buckets[1] =
      task::OtherBucket(index_.policy, lookup.buckets[0], task::TagOfHash(operation.hash), buckets);
  lookup.told[1] = lookup.buckets[1] == lookup.buckets[0];
  core().lookups.push_back(lookup);
  Emit({.kind = RecordKind::kOpBegin, .aux = static_cast<uint32_t>(operation.type)});
}

void AccessRecorder::EndOp(bool found, uint64_t position) {
  Core& core = this->core();
  WEFT_CHECK(!core.lookups.empty());
  const Lookup lookup = core.lookups.front();
  core.lookups.pop_front();
  for (size_t side = 0; side < 2; ++side) {
    const uint64_t bucket = lookup.buckets[side];
    if (!lookup.told[side] || (side == 1 && bucket == lookup.buckets[0])) continue;
    const bool is_here = found && position / kBucketSlots == bucket;
    Emit({.kind = RecordKind::kHit,
          .aux = static_cast<uint32_t>(bucket),
          .slot = is_here ? static_cast<uint8_t>(position % kBucketSlots) : kNoSlot});
  }
  ++core.ops_ended;
  const uint64_t due = core.ops_ended * gaps_.ops_total;
  const uint64_t gap = due > core.instructions ? due - core.instructions : 0;
  Emit({.gap = static_cast<uint32_t>(gap), .kind = RecordKind::kOpEnd});
}

// The number of the access that read the word which names the object; 0: none lately.
uint64_t AccessRecorder::NamedBy(const void* object) {
  const Core& core = this->core();
  const auto location = static_cast<uint64_t>(Bytes(object) - log_.base) / kLocationUnitBytes;
  const uint64_t oldest = core.named_count > kNamed ? core.named_count - kNamed : 0;
  for (uint64_t n = core.named_count; n > oldest; --n) {
    const Named& named = core.named[(n - 1) % kNamed];
    if (named.location == location) return named.access;
  }
  return 0;
}

uint32_t AccessRecorder::GapTo(AccessClass cls) {
  Core& core = this->core();
  const AccessClass last = std::exchange(core.last_class, cls);
  if (const uint32_t lead = std::exchange(core.key_lead, 0); lead != 0) return lead;
  if (last == cls) return gaps_.in_class;
  switch (cls) {
    case AccessClass::kBucket: return gaps_.to_bucket;
    case AccessClass::kObjectHead: return gaps_.to_object;
    case AccessClass::kObjectBody:
      return last == AccessClass::kObjectHead ? gaps_.in_class : gaps_.to_object;
    case AccessClass::kLogAppend: return gaps_.to_append;
    default: return gaps_.to_other;
  }
}

void AccessRecorder::Emit(Record record) {
  Core& core = this->core();
  core.instructions += record.gap + (record.IsAccess() ? 1 : 0);
  core.accesses += record.IsAccess() ? 1 : 0;
  core.records.push_back(record);
}

void AccessRecorder::EmitAccess(RecordKind kind, const Arena& arena, const void* at, uint64_t bytes,
                                AccessClass cls, uint64_t producer) {
  uint64_t addr = arena.OffsetOf(at);
  const uint64_t limit = addr + bytes;
  while (addr < limit) {
    const uint64_t piece = std::min(limit, (addr / kLine + 1) * kLine) - addr;
    const uint64_t distance = core().accesses + 1 - producer;
    Emit({.addr = addr,
          .gap = GapTo(cls),
          .size = static_cast<uint16_t>(piece),
          .kind = kind,
          .cls = cls,
          .dep = static_cast<uint8_t>(producer != 0 && distance <= kDepMax ? distance : 0)});
    addr += piece;
  }
}

TableSlot AccessRecorder::SlotOfWord(uint64_t word) const {
  if (word == kSlotEmpty || task::SlotState(word) == kSlotTentative) return {};
  const task::Object* object = task::ObjectAt(log_, task::SlotLocation(word));
  return {.addr = arenas_.arenas()[1].OffsetOf(object),
          .bytes = static_cast<uint32_t>(task::StoredBytes(object)),
          .tag = static_cast<uint16_t>(task::SlotTag(word))};
}

// The slot of the bucket that has the key; kNoSlot: none.
uint8_t AccessRecorder::SlotOf(const Lookup& lookup, uint64_t bucket) const {
  const Pause pause;
  const std::string_view key = lookup.operation.key;
  task::Bucket* line = &index_.older.buckets[bucket];
  const task::Found found =
      task::FindInBucket(log_, line,
                         {lookup.operation.hash, reinterpret_cast<const uint8_t*>(key.data()),
                          static_cast<uint32_t>(key.size())},
                         false, nullptr);
  if (found.slot == nullptr) return kNoSlot;
  return static_cast<uint8_t>(found.slot - &line->slots[0]);
}

// An access to the bucket comes next: of the lookups that are for it, the first that wasn't told.
void AccessRecorder::TellKeys(uint64_t bucket) {
  for (Lookup& lookup : core().lookups) {
    for (size_t side = 0; side < 2; ++side) {
      if (lookup.buckets[side] != bucket || lookup.told[side] || (side == 1 && !lookup.told[0]))
        continue;
      lookup.told[side] = true;
      Emit({.addr = arenas_.arenas()[0].base + bucket * kLine,
            .gap = gaps_.to_bucket,
            .kind = RecordKind::kKey,
            .tag = static_cast<uint16_t>(task::TagOfHash(lookup.operation.hash)),
            .slot = SlotOf(lookup, bucket)});
      core().key_lead = gaps_.key_lead;
      return;
    }
  }
}

void AccessRecorder::ReadLog(const Arena& arena, const void* at, uint64_t bytes) {
  const Core& core = this->core();
  const uint8_t* const begin = Bytes(at);
  const uint8_t* const end = begin + bytes;
  const bool is_object = begin >= core.object && end <= core.object_end;
  if (!is_object || begin < core.object_key_end) {
    EmitAccess(RecordKind::kRead, arena, at, bytes, AccessClass::kObjectHead,
               is_object ? core.named_by : 0);
  } else {
    EmitAccess(RecordKind::kRead, arena, at, bytes, AccessClass::kObjectBody, core.header_access);
  }
}

void AccessRecorder::OnRead(const void* at, uint64_t bytes, uint64_t word) {
  const Arena* const arena = arenas_.Find(at);
  if (arena == nullptr) {
    ++left_out_;
    return;
  }
  switch (arena->kind) {
    case ArenaKind::kIndex:
      TellKeys((arena->OffsetOf(at) - arena->base) / kLine);
      EmitAccess(RecordKind::kRead, *arena, at, bytes, AccessClass::kBucket, 0);
      if (word != kSlotEmpty) {
        Core& core = this->core();
        core.named[core.named_count++ % kNamed] = {task::SlotLocation(word), core.accesses};
      }
      return;
    case ArenaKind::kLog: ReadLog(*arena, at, bytes); return;
    case ArenaKind::kBuffer:
      EmitAccess(RecordKind::kRead, *arena, at, bytes, AccessClass::kNetworkBuffer, 0);
      return;
    case ArenaKind::kOther:
      EmitAccess(RecordKind::kRead, *arena, at, bytes, AccessClass::kOther, 0);
      return;
  }
}

void AccessRecorder::OnObject(const void* at) {
  const Arena* const arena = arenas_.Find(at);
  WEFT_CHECK(arena != nullptr && arena->kind == ArenaKind::kLog);
  const auto* const object = static_cast<const task::Object*>(at);
  Core& core = this->core();
  core.object = Bytes(at);
  core.object_key_end =
      core.object + task::KeyOffset(object->shape) + task::KeyBytes(object->shape);
  core.object_end = core.object + task::StoredBytes(object);
  core.named_by = NamedBy(at);
  EmitAccess(RecordKind::kRead, *arena, at, sizeof(task::Object), AccessClass::kObjectHead,
             core.named_by);
  core.header_access = core.accesses;
}

void AccessRecorder::OnWrite(const void* at, uint64_t bytes) {
  const Arena* const arena = arenas_.Find(at);
  if (arena == nullptr) {
    ++left_out_;
    return;
  }
  const AccessClass cls = arena->kind == ArenaKind::kLog      ? AccessClass::kLogAppend
                          : arena->kind == ArenaKind::kBuffer ? AccessClass::kNetworkBuffer
                          : arena->kind == ArenaKind::kIndex  ? AccessClass::kBucket
                                                              : AccessClass::kOther;
  EmitAccess(RecordKind::kWrite, *arena, at, bytes, cls, 0);
}

// A slot is read and written; searches may see another entry in it from now on.
void AccessRecorder::NoteWord(const void* at, uint64_t word) {
  const uint64_t number = static_cast<uint64_t>(Bytes(at) - arenas_.arenas()[0].begin) / 8;
  const uint64_t bucket = number / kBucketSlots;
  const int slot = static_cast<int>(number % kBucketSlots);
  const TableSlot now = SlotOfWord(word);
  if (now == table_.At(bucket, slot)) return;
  const Record change{.addr = now.addr,
                      .size = static_cast<uint16_t>(now.bytes),
                      .kind = RecordKind::kSlot,
                      .aux = static_cast<uint32_t>(bucket),
                      .tag = now.tag,
                      .slot = static_cast<uint8_t>(slot)};
  Emit(change);
  table_.Apply(change);
}

void AccessRecorder::OnUpdate(const void* at, uint64_t bytes, uint64_t word) {
  const Arena* const arena = arenas_.Find(at);
  if (arena != nullptr && arena->kind == ArenaKind::kLog) {
    // The one word of an object that is changed in place is in its header.
    EmitAccess(RecordKind::kWrite, *arena, at, bytes, AccessClass::kObjectHead, 0);
    return;
  }
  OnWrite(at, bytes);
  if (arena != nullptr && arena->kind == ArenaKind::kIndex) NoteWord(at, word);
}

void AccessRecorder::OnPrefetch(const void* at) {
  const Arena* const arena = arenas_.Find(at);
  if (arena == nullptr) {
    ++left_out_;
    return;
  }
  Core& core = this->core();
  AccessClass cls = AccessClass::kOther;
  uint64_t producer = 0;
  if (arena->kind == ArenaKind::kIndex) {
    TellKeys((arena->OffsetOf(at) - arena->base) / kLine);
    cls = AccessClass::kBucket;
  } else if (arena->kind == ArenaKind::kLog) {
    // An object's first line is asked for as soon as its word was read, the others behind that.
    const Named& last = core.named[(core.named_count + kNamed - 1) % kNamed];
    const bool is_first = Bytes(at) == log_.base + last.location * kLocationUnitBytes;
    cls = is_first ? AccessClass::kObjectHead : AccessClass::kObjectBody;
    if (is_first) core.prefetch_by = last.access;
    producer = core.prefetch_by;
  } else if (arena->kind == ArenaKind::kBuffer) {
    cls = AccessClass::kNetworkBuffer;
  }
  EmitAccess(RecordKind::kPrefetch, *arena, at, 1, cls, producer);
}

}  // namespace weft::sim

// What task/portable.h declares.
namespace weft::task {

void RecordRead(const void* at, u64 bytes, u64 word) {
  if (auto* const recorder = sim::AccessRecorder::OfThread(); recorder != nullptr)
    recorder->OnRead(at, bytes, word);
}

void RecordObject(const void* at) {
  if (auto* const recorder = sim::AccessRecorder::OfThread(); recorder != nullptr)
    recorder->OnObject(at);
}

void RecordWrite(const void* at, u64 bytes) {
  if (auto* const recorder = sim::AccessRecorder::OfThread(); recorder != nullptr)
    recorder->OnWrite(at, bytes);
}

void RecordUpdate(const void* at, u64 bytes, u64 word) {
  if (auto* const recorder = sim::AccessRecorder::OfThread(); recorder != nullptr)
    recorder->OnUpdate(at, bytes, word);
}

void RecordPrefetch(const void* at) {
  if (auto* const recorder = sim::AccessRecorder::OfThread(); recorder != nullptr)
    recorder->OnPrefetch(at);
}

}  // namespace weft::task
