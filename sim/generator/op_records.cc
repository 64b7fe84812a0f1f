#include "sim/generator/op_records.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/dram/organization.h"

namespace weft::sim {
namespace {

// Distances in instructions.
constexpr uint32_t kToNextEntry = 20;
constexpr uint32_t kToUnpack = 57;
constexpr uint32_t kToLength = 77;
constexpr uint32_t kToFirstPrefetch = 3;
constexpr uint32_t kToNextPrefetch = 4;
constexpr uint32_t kToNextLine = 8;
constexpr uint32_t kToEntryWrite = 20;

constexpr uint64_t kLengthBytes = 3;
constexpr uint32_t kPrefetchedBelow = 300;
constexpr uint64_t kWordBytes = 8;

}  // namespace

Result<ObjectPrefetch> ParseObjectPrefetch(std::string_view text) {
  if (text == "off") return ObjectPrefetch::kOff;
  if (text == "lt300") return ObjectPrefetch::kBelow300;
  if (text == "all") return ObjectPrefetch::kAll;
  return Status(Code::kInvalidArgument,
                fmt::format("object prefetch '{}' is not one of off, lt300, all", text));
}

OpRecords::OpRecords(const RamcloudStore* store, const OpShape& shape, int core)
    : store_(store),
      shape_(shape),
      own_data_(store->own_data(core)),
      random_(base::Mix(base::Mix(store->options().seed) + 200 + static_cast<uint64_t>(core))) {}

void OpRecords::Plain(uint32_t instructions) {
  gap_ += instructions;
  instructions_ += instructions;
}

void OpRecords::Mark(const Record& mark) {
  records_->push_back(mark);
  records_->back().gap = gap_;
  gap_ = 0;
}

int OpRecords::Access(uint32_t distance, RecordKind kind, AccessClass cls, uint64_t addr,
                      uint64_t size, int producer) {
  Plain(distance - 1);
  ++instructions_;
  const int dep = producer == kNone ? 0 : accesses_ - producer;
  WEFT_DCHECK(dep <= 255);
  records_->push_back({.addr = addr,
                       .gap = gap_,
                       .size = static_cast<uint16_t>(size),
                       .kind = kind,
                       .cls = cls,
                       .dep = static_cast<uint8_t>(dep)});
  gap_ = 0;
  return accesses_++;
}

void OpRecords::AccessLines(RecordKind kind, AccessClass cls, uint64_t addr, uint64_t size,
                            int producer) {
  const uint64_t end = addr + size;
  while (addr < end) {
    const uint64_t next = std::min(end, (addr / kLineBytes + 1) * kLineBytes);
    Access(kToNextLine, kind, cls, addr, next - addr, producer);
    addr = next;
  }
}

int OpRecords::FindEntry(const PlannedOp& op, uint32_t distance) {
  store_->PathTo(op.line, &path_);
  int chain = kNone;
  for (uint32_t line : path_) {
    const uint64_t bucket = store_->AddressOf(line);
    const int last = line == op.line ? op.slot : kSlotsPerBucket - 1;
    const int lead_to_it = chain;
    for (int slot = 0; slot <= last; ++slot) {
      chain = Access(distance, RecordKind::kRead, AccessClass::kBucket,
                     bucket + kSlotBytes * static_cast<uint64_t>(slot), kSlotBytes, lead_to_it);
      distance = kToNextEntry;
    }
  }
  const int entry = chain;
  const int lead_to_it = path_.size() == 1 ? kNone : entry - op.slot - 1;
  return Access(kToUnpack, RecordKind::kRead, AccessClass::kBucket,
                store_->AddressOf(op.line) + kSlotBytes * op.slot, kSlotBytes, lead_to_it);
}

void OpRecords::ReadObject(const PlannedOp& op, int pointer) {
  const int length = Access(kToLength, RecordKind::kRead, AccessClass::kObjectHead, op.addr,
                            kLengthBytes, pointer);
  const int producer = shape_.length_dep ? length : pointer;
  const uint64_t end = op.addr + op.entry_bytes;
  const uint64_t value = end - op.value_bytes;
  const bool is_get = op.type == OpType::kGet;
  if (is_get && shape_.object_prefetch != ObjectPrefetch::kOff &&
      (op.entry_bytes < kPrefetchedBelow || shape_.object_prefetch == ObjectPrefetch::kAll)) {
    uint32_t distance = kToFirstPrefetch;
    for (uint64_t line = op.addr / kLineBytes; line <= (end - 1) / kLineBytes; ++line) {
      const uint64_t addr = line * kLineBytes;
      Access(distance, shape_.prefetch_is_load ? RecordKind::kRead : RecordKind::kPrefetch,
             addr < value ? AccessClass::kObjectHead : AccessClass::kObjectBody, addr, kLineBytes,
             producer);
      distance = kToNextPrefetch;
    }
  }
  // A line that has both is the head's.
  const uint64_t head_end = std::min(end, (value + kLineBytes - 1) / kLineBytes * kLineBytes);
  AccessLines(RecordKind::kRead, AccessClass::kObjectHead, op.addr,
              (is_get ? head_end : value) - op.addr, producer);
  if (is_get) {
    AccessLines(RecordKind::kRead, AccessClass::kObjectBody, head_end, end - head_end, producer);
  }
}

void OpRecords::Append(const PlannedOp& op) {
  AccessLines(RecordKind::kWrite, AccessClass::kLogAppend, op.new_addr, op.entry_bytes, kNone);
  Access(kToEntryWrite, RecordKind::kWrite, AccessClass::kBucket,
         store_->AddressOf(op.line) + kSlotBytes * op.slot, kSlotBytes);
  if (!store_->IsOverflow(op.line)) Mark(SlotMark(op));
}

Record OpRecords::SlotMark(const PlannedOp& op) const {
  return {.addr = op.new_addr,
          .size = op.entry_bytes,
          .kind = RecordKind::kSlot,
          .aux = op.line,
          .tag = op.tag,
          .slot = op.slot};
}

Record OpRecords::HitMark(const PlannedOp& op) {
  store_->PathTo(op.line, &path_);
  return {.kind = RecordKind::kHit,
          .aux = path_.front(),
          .slot = store_->IsOverflow(op.line) ? kNoSlot : op.slot};
}

uint64_t OpRecords::DrawOwnWord() { return random_.Below(kOwnDataBytes / kWordBytes); }

void OpRecords::AccessOwnData() {
  const uint32_t left =
      shape_.instr_per_op > instructions_ ? shape_.instr_per_op - instructions_ : 0;
  const auto others = static_cast<uint32_t>(shape_.other_per_op);
  const uint32_t distance = std::max(1u, left / (others + 1));
  for (uint32_t i = 0; i < others; ++i) {
    const uint64_t word = DrawOwnWord();
    Access(distance, i % 4 == 3 ? RecordKind::kWrite : RecordKind::kRead, AccessClass::kStack,
           own_data_ + word * kWordBytes, kWordBytes);
  }
  if (instructions_ < shape_.instr_per_op) Plain(shape_.instr_per_op - instructions_);
}

void OpRecords::Write(const PlannedOp& op, std::vector<Record>* records) {
  records_ = records;
  records->clear();
  gap_ = 0;
  instructions_ = 0;
  accesses_ = 0;
  Mark({.kind = RecordKind::kOpBegin, .aux = static_cast<uint32_t>(op.type)});

  store_->PathTo(op.line, &path_);
  const uint32_t bucket = path_.front();
  const bool is_overflow = store_->IsOverflow(op.line);
  const uint8_t slot = is_overflow ? kNoSlot : op.slot;
  const auto key = [&] {
    if (op.type == OpType::kPut && !shape_.put_key) return;
    Mark(
        {.addr = store_->AddressOf(bucket), .kind = RecordKind::kKey, .tag = op.tag, .slot = slot});
  };
  uint32_t to_first_entry = kToFirstEntry;
  if (shape_.bucket_prefetch) {
    key();
    Access(shape_.key_lead, shape_.prefetch_is_load ? RecordKind::kRead : RecordKind::kPrefetch,
           AccessClass::kBucket, store_->AddressOf(bucket), kBucketBytes);
  } else {
    Plain(kToFirstEntry - std::min(shape_.key_lead, kToFirstEntry));
    key();
    to_first_entry = shape_.key_lead;
  }
  const int pointer = FindEntry(op, to_first_entry);
  ReadObject(op, pointer);
  if (op.type == OpType::kPut) Append(op);
  Mark(HitMark(op));
  AccessOwnData();
  Mark({.kind = RecordKind::kOpEnd});
}

void OpRecords::WriteMarks(const PlannedOp& op, std::vector<Record>* records) {
  records->clear();
  if (op.type == OpType::kPut && !store_->IsOverflow(op.line)) records->push_back(SlotMark(op));
  records->push_back(HitMark(op));
  for (int i = 0; i < shape_.other_per_op; ++i) DrawOwnWord();
}

}  // namespace weft::sim
