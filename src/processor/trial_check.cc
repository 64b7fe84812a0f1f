// What a trial's batch must have come to, by its model (processor/trial.h).
#include <cstring>
#include <iterator>

#include "processor/trial.h"

namespace weft::processor {
namespace {

std::string ResultName(uint32_t result) {
  constexpr const char* kNames[] = {"none", "found", "missed", "read", "stored", "deleted"};
  return result < std::size(kNames) ? kNames[result] : "result " + std::to_string(result);
}

const char* WantedName(uint32_t wanted) {
  constexpr const char* kNames[] = {"nothing", "hint", "read", "store", "delete"};
  return kNames[wanted];
}

}  // namespace

Status Trial::Wrong(uint32_t i, const std::string& how) const {
  const Query& query = queries_[i];
  return Status(Code::kCorruption, std::string(WantedName(query.wanted)) + " of query " +
                                       std::to_string(i) + " (key of " +
                                       std::to_string(query.key.size()) + " bytes): " + how +
                                       "; it says " + ResultName(columns_.result[i]) + ", word " +
                                       std::to_string(columns_.word[i]));
}

Status Trial::Check() {
  for (uint32_t i = 0; i < queries(); i++) {
    if (Status status = CheckQuery(i); !status.ok()) return status;
  }
  if (Status status = TakeGraves(); !status.ok()) return status;
  return CheckIndex();
}

// The word of each delete's grave stands in the entry's place, tentative; then it goes.
Status Trial::TakeGraves() {
  for (uint32_t i = 0; i < queries(); i++) {
    if (columns_.result[i] != kResultDeleted) continue;
    uint64_t* const slot = task::SlotAtPosition(job_.query.index, columns_.position[i]);
    const uint64_t tag = columns_.hash[i] >> 48;
    if (*slot != ((tag == 0 ? 1 : tag) << kTagShift | kSlotTentative | columns_.placed[i]))
      return Wrong(i, "its grave is not where the entry was");
    *slot = kSlotEmpty;
  }
  return {};
}

Status Trial::CheckQuery(uint32_t i) {
  switch (queries_[i].wanted) {
    case kWantsHint: return CheckHint(i);
    case kWantsRead: return CheckRead(i);
    case kWantsStore: return CheckStore(i);
    case kWantsDelete: return CheckDelete(i);
    default:
      if (columns_.result[i] != kResultNone || columns_.word[i] != 0)
        return Wrong(i, "no task was requested for it");
      return {};
  }
}

// Search alone answers with an entry that may be the key's: one of its tag. It need not look into
// the second bucket of a table that grows.
Status Trial::CheckHint(uint32_t i) const {
  if (columns_.result[i] != kResultNone) return Wrong(i, "a search has no result");
  if ((tasks_run_ & kRunSearch) == 0) return {};
  const uint64_t word = columns_.word[i];
  const uint64_t tag = columns_.hash[i] >> 48;
  if (word != 0 && word >> kTagShift != (tag == 0 ? 1 : tag)) return Wrong(i, "it has another tag");
  if (word == 0 && view_ != View::kBoth && model_.contains(queries_[i].key))
    return Wrong(i, "the key's entry was not found");
  return {};
}

// The entry that was found, as it stands in the index now.
Status Trial::CheckRead(uint32_t i) const {
  if ((tasks_run_ & kRunCompare) == 0) return {};
  const uint32_t result = columns_.result[i];
  const auto found = model_.find(queries_[i].key);
  if (found == model_.end()) {
    if (result != kResultMissed || columns_.word[i] != 0) return Wrong(i, "the key is not there");
    return {};
  }
  const Entry& entry = found->second;
  if (result != kResultFound && result != kResultRead) return Wrong(i, "the key is there");
  if ((columns_.word[i] & kLocationMask) != entry.location) return Wrong(i, "another object's");
  const uint64_t position = columns_.position[i];
  const uint64_t slot = position & ~kPositionNewer;
  const task::TableRef& table =
      (position & kPositionNewer) != 0 ? job_.query.index.newer : job_.query.index.older;
  if (slot >= table.bucket_count * kBucketSlots)
    return Wrong(i, "its position is outside the table");
  const uint64_t word = table.buckets[slot / kBucketSlots].slots[slot % kBucketSlots];
  const bool stays = moves() == moves_before_;  // else it may have moved since
  if (stays && (word & kLocationMask) != entry.location)
    return Wrong(i, "its position is another entry's");

  const bool may_read = (tasks_run_ & kRunRead) != 0 && !IsEnded(entry) &&
                        entry.stored.value.size() <= kGatherBytesMax;
  if (result == kResultRead)
    return may_read ? CheckValue(i, entry.stored) : Wrong(i, "its value must not be gathered");
  const bool overflowed = *columns_.values_used > job_.query.values_capacity;
  if (may_read && !overflowed) return Wrong(i, "its value was not gathered");
  return {};
}

Status Trial::CheckValue(uint32_t i, const Stored& stored) const {
  const uint64_t at = uint64_t{columns_.value_at[i]} * 8;
  if (at + kGatherHeaderBytes + stored.value.size() > shape_.values_bytes)
    return Wrong(i, "its value is outside the room for values");
  uint32_t header[2];  // flags, bytes
  std::memcpy(header, columns_.values + at, sizeof header);
  if (header[0] != stored.flags) return Wrong(i, "other client flags");
  if (header[1] != stored.value.size() ||
      std::memcmp(columns_.values + at + kGatherHeaderBytes, stored.value.data(),
                  stored.value.size()) != 0)
    return Wrong(i, "another value");
  return {};
}

Status Trial::CheckStore(uint32_t i) {
  if ((tasks_run_ & kRunInsert) == 0) return {};
  const Query& query = queries_[i];
  const auto found = model_.find(query.key);
  const bool is_there = found != model_.end();
  if (columns_.result[i] == kResultNone) {
    if (is_there || (room && view_ != View::kBoth)) return Wrong(i, "it was not stored");
    return {};
  }
  if (columns_.result[i] != kResultStored) return Wrong(i, "it is not an answer to a store");
  if (!is_there && view_ == View::kBoth) return Wrong(i, "it may not enter a table that grows");
  const uint64_t replaced = is_there ? found->second.location : 0;
  if ((columns_.word[i] & kLocationMask) != replaced)
    return Wrong(i, "it should have replaced " + std::to_string(replaced));
  Entry entry = query.entry;
  if (is_there) entry.table = found->second.table;
  model_[query.key] = entry;
  return {};
}

Status Trial::CheckDelete(uint32_t i) {
  if ((tasks_run_ & kRunDelete) == 0) return {};
  const auto found = model_.find(queries_[i].key);
  const bool may_delete = found != model_.end() && !IsEnded(found->second);
  if (!may_delete) {
    if (columns_.result[i] != kResultNone) return Wrong(i, "there is nothing to delete");
    return {};
  }
  if (view_ == View::kBoth)
    return columns_.result[i] == kResultNone ? Status() : Wrong(i, "it waits while a table grows");
  if (columns_.result[i] != kResultDeleted) return Wrong(i, "it was not deleted");
  if ((columns_.word[i] & kLocationMask) != found->second.location)
    return Wrong(i, "another object was deleted");
  model_.erase(found);
  return {};
}

// Every entry of the model stands in the index once, live, and nothing else does.
Status Trial::CheckIndex() const {
  std::map<uint64_t, std::string> older, newer;
  for (const auto& [key, entry] : model_)
    (entry.table == View::kNewer ? newer : older)[entry.location] = key;
  if (Status status = CheckTable(index_.older, &older); !status.ok()) return status;
  if (shape_.newer_buckets == 0) return {};
  return CheckTable(index_.newer, &newer);
}

Status Trial::CheckTable(const task::TableRef& table,
                         std::map<uint64_t, std::string>* expected) const {
  for (uint64_t i = 0; i < table.bucket_count * kBucketSlots; i++) {
    const uint64_t word = table.buckets[i / kBucketSlots].slots[i % kBucketSlots];
    if (word == kSlotEmpty) continue;
    if ((word & kStateMask) != kSlotLive)
      return Status(Code::kCorruption, "slot " + std::to_string(i) + " was left half done");
    const auto entry = expected->find(word & kLocationMask);
    if (entry == expected->end())
      return Status(Code::kCorruption, "slot " + std::to_string(i) +
                                           " names an object twice, or one that must not be there");
    const uint64_t tag = HashOf(entry->second) >> 48;
    if (word >> kTagShift != (tag == 0 ? 1 : tag))
      return Status(Code::kCorruption, "slot " + std::to_string(i) + " has another key's tag");
    expected->erase(entry);
  }
  if (expected->empty()) return {};
  return Status(Code::kCorruption,
                std::to_string(expected->size()) + " entries are missing from the index");
}

}  // namespace weft::processor
