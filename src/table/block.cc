#include "table/block.h"

#include <algorithm>

namespace weft::table {

namespace {
// Entries ahead whose first lines are fetched at once, and the length from which that pays: shorter
// ones come by themselves, line after line.
constexpr ptrdiff_t kPrefetchEntries = 16;
constexpr ptrdiff_t kPrefetchStride = 64;
// What a walk back keeps at most. Longer stretches, as long shared prefixes make them, are walked
// anew for each step.
constexpr size_t kWalkKeyBytesMax = 1u << 20;
constexpr size_t kWalkStepsMax = 1u << 14;
}  // namespace

void BlockIterator::Reset(const KeyOrder& order, std::string_view block) {
  order_ = order;
  entry_ = nullptr;
  damaged_ = false;
  if (walk_ != nullptr) walk_->steps.clear();
  data_ = block.data();
  limit_ = end_ = next_ = data_;
  restarts_ = 0;
  constexpr size_t kCountBytes = sizeof(uint32_t);
  if (block.size() < kCountBytes || block.size() > UINT32_MAX) return Damage();
  const uint32_t restarts = base::DecodeFixed32(block.data() + block.size() - kCountBytes);
  if (restarts > block.size() / 4 - 1) return Damage();
  end_ = data_ + block.size();
  limit_ = end_ - kCountBytes - 4 * size_t{restarts};
  restarts_ = restarts;
  next_ = limit_;
  if (restarts == 0 && limit_ != data_) return Damage();
}

Status BlockIterator::status() const {
  if (!damaged_) return {};
  return {Code::kCorruption, "bad entry in a block"};
}

void BlockIterator::GrowKey(uint32_t keep, size_t bytes) {
  const size_t room_bytes = bytes * 2;
  // Freed by more_room_.
  std::unique_ptr<char[]> room(new char[room_bytes]);
  std::memcpy(room.get(), key_, keep);
  more_room_ = std::move(room);
  room_ = more_room_.get();
  room_bytes_ = room_bytes;
}

void BlockIterator::SeekToFirst() {
  if (restarts_ == 0) return End();
  GoBefore(0);
  DecodeNext();
}

void BlockIterator::SeekToLast() {
  if (restarts_ == 0) return End();
  damaged_ = false;
  StepBackFrom(limit_);
}

bool BlockIterator::RestartKey(uint32_t i, std::string_view* key) {
  const uint32_t offset = RestartOffset(i);
  if (offset >= static_cast<uint64_t>(limit_ - data_)) return false;
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_bytes;
  const char* at = DecodeLengths(data_ + offset, &shared, &unshared, &value_bytes);
  if (at == nullptr || shared != 0 || unshared > static_cast<uint64_t>(limit_ - at)) return false;
  *key = {at, unshared};
  return true;
}

// The last restart point whose key is below target, or the first.
template <typename Order>
bool BlockIterator::FindRestart(const Order& order, std::string_view target, uint32_t* restart) {
  uint32_t low = 0;
  uint32_t high = restarts_ - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    std::string_view key;
    if (!RestartKey(middle, &key)) return false;
    if (order.Compare(key, target) < 0) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  *restart = low;
  return true;
}

template <typename Order>
void BlockIterator::SeekIn(const Order& order, std::string_view target) {
  uint32_t restart;
  if (!FindRestart(order, target, &restart)) return Damage();
  const uint32_t offset = RestartOffset(restart);
  if (offset > static_cast<uint64_t>(limit_ - data_)) return Damage();
  GoBefore(offset);
  if (!DecodeNext()) return;
  if (order.Compare({key_, key_bytes_}, target) >= 0) return;
  const char* stretch_end = limit_;
  if (restart + 1 < restarts_) {
    const uint64_t next_restart = RestartOffset(restart + 1);
    if (next_restart < static_cast<uint64_t>(limit_ - data_)) stretch_end = data_ + next_restart;
  }
  PrefetchStretch(entry_, next_, stretch_end);
  while (DecodeNext()) {
    if (order.Compare({key_, key_bytes_}, target) >= 0) return;
  }
}

void BlockIterator::Seek(std::string_view target) {
  if (restarts_ == 0) return End();
  damaged_ = false;
  order_.Visit([&](const auto& order) { SeekIn(order, target); });
}

// Entries of a stretch are often of like length: guesses where the next ones begin.
void BlockIterator::PrefetchStretch(const char* from, const char* first_end, const char* to) const {
  const ptrdiff_t stride = first_end - from;
  if (stride < kPrefetchStride) return;
  const ptrdiff_t entries = std::min(kPrefetchEntries, (to - first_end) / stride);
  for (ptrdiff_t i = 0; i < entries; ++i) __builtin_prefetch(first_end + i * stride);
}

void BlockIterator::PrefetchWalk() {
  if (restarts_ != 1) {
    if (restarts_ != 0) {
      const uint32_t offset = RestartOffset(restarts_ / 2);
      if (offset < static_cast<uint64_t>(limit_ - data_)) __builtin_prefetch(data_ + offset);
    }
    return;
  }
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_bytes;
  const char* at = DecodeLengths(data_, &shared, &unshared, &value_bytes);
  if (at == nullptr || uint64_t{unshared} + value_bytes >= static_cast<uint64_t>(limit_ - at)) {
    return;
  }
  PrefetchStretch(data_, at + unshared + value_bytes, limit_);
}

bool BlockIterator::LastRestartBefore(uint32_t offset, uint32_t* restart_offset) const {
  uint32_t low = 0;
  uint32_t high = restarts_;  // restart points below low are before `offset`, those from high not
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (RestartOffset(middle) < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return false;
  *restart_offset = RestartOffset(low - 1);
  return *restart_offset < offset;
}

void BlockIterator::TakeStep(size_t i) {
  const Step& step = walk_->steps[i];
  walk_->at = i;
  entry_ = step.entry;
  key_ = step.key != nullptr ? step.key : walk_->keys.data() + step.key_at;
  key_bytes_ = step.key_bytes;
  value_ = step.value;
  value_bytes_ = step.value_bytes;
  next_ = value_ + value_bytes_;
}

void BlockIterator::StepBackFrom(const char* before) {
  if (before == data_) return End();
  uint32_t start;
  if (!LastRestartBefore(static_cast<uint32_t>(before - data_), &start)) return Damage();
  if (walk_ == nullptr) walk_ = std::make_unique<Walk>();
  walk_->steps.clear();
  walk_->keys.clear();
  GoBefore(start);
  bool keep = true;
  do {
    if (!DecodeNext()) return Damage();
    if (!keep) continue;
    const bool whole = key_ != room_;
    walk_->steps.push_back(
        {entry_, whole ? key_ : nullptr, walk_->keys.size(), key_bytes_, value_, value_bytes_});
    if (!whole) walk_->keys.append(key_, key_bytes_);
    keep = walk_->keys.size() <= kWalkKeyBytesMax && walk_->steps.size() < kWalkStepsMax;
  } while (next_ < before);
  if (next_ != before) return Damage();
  if (!keep) {
    walk_->steps.clear();
    return;
  }
  TakeStep(walk_->steps.size() - 1);
}

void BlockIterator::Prev() {
  WEFT_DCHECK(Valid());
  if (walk_ != nullptr && !walk_->steps.empty() && walk_->at > 0 &&
      walk_->steps[walk_->at].entry == entry_) {
    return TakeStep(walk_->at - 1);
  }
  StepBackFrom(entry_);
}

}  // namespace weft::table
