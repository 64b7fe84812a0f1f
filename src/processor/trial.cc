#include "processor/trial.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace weft::processor {
namespace {

constexpr uint32_t kSegmentShift = 9;  // of 512 units, 4 KiB
constexpr uint32_t kRoundsMax = 20;    // of Run

// Cuts one range of memory into arrays, each on a cache line of its own.
class Cutter {
 public:
  explicit Cutter(uint8_t* at) : at_(at) {}
  template <typename T>
  T* Take(uint64_t count) {
    T* const array = at_ == nullptr ? nullptr : reinterpret_cast<T*>(at_ + bytes_);
    bytes_ += (count * sizeof(T) + 63) / 64 * 64;
    return array;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint8_t* const at_;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Trial>> Trial::Create(cache::PageSource* source, const Shape& shape) {
  std::unique_ptr<Trial> trial(new Trial(shape));  // its constructor is private
  if (Status status = trial->Reserve(source); !status.ok()) return status;
  trial->Look(View::kOlder);
  return trial;
}

Status Trial::Reserve(cache::PageSource* source) {
  // Each part is measured by a first pass without memory, then placed.
  const uint64_t segments = (shape_.log_bytes / 8 >> kSegmentShift) + 1;
  const auto place_table = [&](uint8_t* at) {
    Cutter cutter(at);
    index_.older = {cutter.Take<task::Bucket>(shape_.buckets), shape_.buckets};
    index_.newer = {cutter.Take<task::Bucket>(shape_.newer_buckets), shape_.newer_buckets};
    index_.move_counts = cutter.Take<uint32_t>(kMoveStripes);
    return cutter.bytes();
  };
  uint64_t* bases = nullptr;
  const auto place_log = [&](uint8_t* at) {
    Cutter cutter(at);
    log_.base = cutter.Take<uint8_t>(shape_.log_bytes);
    bases = cutter.Take<uint64_t>(segments);
    return cutter.bytes();
  };
  const auto place_columns = [&](uint8_t* at) {
    const uint64_t n = shape_.queries_max;
    Cutter cutter(at);
    columns_ = {cutter.Take<uint64_t>(n),
                cutter.Take<uint64_t>(n),
                cutter.Take<uint64_t>(n),
                cutter.Take<uint64_t>(n),
                cutter.Take<uint32_t>(n),
                cutter.Take<uint32_t>(n),
                cutter.Take<uint32_t>(n / kSetQueries + 1),
                cutter.Take<uint32_t>(1),
                cutter.Take<uint8_t>(n),
                cutter.Take<uint8_t>(n * 250),
                cutter.Take<uint8_t>(n),
                cutter.Take<uint8_t>(n),
                cutter.Take<uint8_t>(shape_.values_bytes)};
    return cutter.bytes();
  };
  auto table = source->Reserve(place_table(nullptr), false);
  if (!table) return table.error();
  auto log = source->Reserve(place_log(nullptr), false);
  if (!log) return log.error();
  auto columns = source->Reserve(place_columns(nullptr), false);
  if (!columns) return columns.error();
  table_pages_ = std::move(*table);
  log_pages_ = std::move(*log);
  column_pages_ = std::move(*columns);
  place_table(table_pages_.data());
  place_log(log_pages_.data());
  place_columns(column_pages_.data());
  for (uint64_t i = 0; i < segments; i++) bases[i] = (i + 1) << (kSegmentShift + 1);
  index_.policy = shape_.policy;
  log_.version_bases = bases;
  log_.segment_shift = kSegmentShift;
  return {};
}

void Trial::Look(View view) {
  view_ = view;
  task::IndexRef& index = job_.query.index;
  index = index_;
  if (view == View::kNewer) index.older = index_.newer;
  if (view != View::kBoth) index.newer = {nullptr, 0};
  index.insert_newer = view == View::kBoth ? 1 : 0;
}

void Trial::Flush() {
  const uint64_t segment = (log_used_ >> kSegmentShift) + 1;
  log_used_ = segment << kSegmentShift;
  log_.flush_floor = log_.version_bases[segment];
  for (auto& [key, entry] : model_) entry.is_flushed = true;
}

uint64_t Trial::HashOf(std::string_view key) const {
  return shape_.hash != nullptr ? shape_.hash(key) : base::HashBytes(key);
}

// As task/object.h draws it.
uint64_t Trial::WriteObject(std::string_view key, const Stored& stored) {
  uint8_t* const start = log_.base + log_used_ * 8;
  const uint64_t location = log_used_;
  WEFT_CHECK(location * 8 + 32 + key.size() + stored.value.size() <= shape_.log_bytes);
  uint32_t shape = static_cast<uint32_t>(key.size()) << kShapeKeyShift;
  uint8_t* at = start + 8;
  const auto put = [&at](const void* bytes, size_t count) {
    if (count != 0) std::memcpy(at, bytes, count);
    at += count;
  };
  if (stored.cas != 0) {
    shape |= kShapeHasCas;
    put(&stored.cas, 8);
  }
  if (stored.flags != 0) {
    shape |= kShapeHasFlags;
    put(&stored.flags, 4);
  }
  if (stored.expiry_s != 0) {
    shape |= kShapeHasExpiry;
    put(&stored.expiry_s, 4);
  }
  const uint32_t value_bytes = static_cast<uint32_t>(stored.value.size());
  if (value_bytes > kShapeValueMask) {
    shape |= kShapeLongValue;
    put(&value_bytes, 4);
  } else {
    shape |= value_bytes;
  }
  put(key.data(), key.size());
  put(stored.value.data(), stored.value.size());
  const uint32_t access = kAccessUnseen;
  std::memcpy(start, &shape, 4);
  std::memcpy(start + 4, &access, 4);
  log_used_ += (static_cast<uint64_t>(at - start) + 7) / 8;
  return location;
}

bool Trial::WasFetched(std::string_view key) const {
  const uint64_t location = model_.find(std::string(key))->second.location;
  uint32_t access = 0;
  std::memcpy(&access, log_.base + location * 8 + 4, 4);
  return (access & kAccessFetched) != 0;
}

uint64_t Trial::moves() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kMoveStripes; i++) sum += index_.move_counts[i];
  return sum;
}

void Trial::Begin() {
  queries_.clear();
  tasks_run_ = 0;
  keys_used_ = 0;
  moves_before_ = moves();
  *columns_.values_used = 0;
}

void Trial::Add(std::string_view key, uint32_t wanted) {
  const uint32_t i = queries();
  WEFT_CHECK(i < shape_.queries_max && !key.empty() && key.size() <= 250);
  queries_.push_back({std::string(key), wanted, {}});
  columns_.hash[i] = HashOf(key);
  columns_.key_at[i] = static_cast<uint32_t>(keys_used_);
  columns_.key_bytes[i] = static_cast<uint8_t>(key.size());
  std::memcpy(columns_.keys + keys_used_, key.data(), key.size());
  keys_used_ += key.size();
  columns_.wanted[i] = static_cast<uint8_t>(wanted);
  columns_.result[i] = kResultNone;
  columns_.word[i] = 0;
  // What no task may read before it has written it.
  columns_.position[i] = ~uint64_t{0};
  columns_.value_at[i] = ~uint32_t{0};
  columns_.placed[i] = 0;
}

void Trial::Store(std::string_view key, const Stored& stored) {
  const uint32_t i = queries();
  Add(key, kWantsStore);
  columns_.placed[i] = WriteObject(key, stored);
  queries_[i].entry = {stored, columns_.placed[i], false,
                       view_ == View::kNewer ? View::kNewer : View::kOlder};
}

void Trial::Delete(std::string_view key) {
  const uint32_t i = queries();
  Add(key, kWantsDelete);
  columns_.placed[i] = WriteObject({}, {});
}

void Trial::MakeJob(bool again) {
  task::QueryJob& query = job_.query;
  query.log = log_;
  query.columns = {columns_.hash, columns_.key_at, columns_.key_bytes,
                   columns_.keys, columns_.word,   columns_.position};
  query.wanted = columns_.wanted;
  query.placed = columns_.placed;
  query.result = columns_.result;
  query.value_at = columns_.value_at;
  query.values = columns_.values;
  query.values_used = columns_.values_used;
  query.values_capacity = static_cast<uint32_t>(shape_.values_bytes / 8);
  query.set_claims = shares ? columns_.claims : nullptr;
  for (uint32_t i = 0; i <= queries() / kSetQueries; i++) columns_.claims[i] = 0;
  query.begin = 0;
  query.end = queries();
  query.tasks = tasks;
  tasks_run_ |= tasks;
  query.now_s = kNow_s;
  query.dice++;
  query.notes = notes ? 1 : 0;
  query.again = again ? 1 : 0;
}

bool Trial::IsEnded(const Entry& entry) const {
  return entry.is_flushed || (entry.stored.expiry_s != 0 && entry.stored.expiry_s <= kNow_s);
}

// Whether the query's last task of `tasks` could have done more than it did.
bool Trial::WantsMore(uint32_t i) const {
  const Query& query = queries_[i];
  const bool is_none = columns_.result[i] == kResultNone;
  const auto entry = model_.find(query.key);
  const bool is_there = entry != model_.end();
  switch (query.wanted) {
    case kWantsRead: return is_none && (tasks & kRunCompare) != 0;
    case kWantsStore:
      return is_none && (tasks & kRunInsert) != 0 && (is_there || view_ != View::kBoth);
    case kWantsDelete:
      return is_none && (tasks & kRunDelete) != 0 && is_there && !IsEnded(entry->second) &&
             view_ != View::kBoth;
    default: return false;
  }
}

bool Trial::IsLeft() const {
  for (uint32_t i = 0; i < queries(); i++)
    if (WantsMore(i)) return true;
  return false;
}

Status Trial::Run(Processor* processor) {
  uint32_t round = 0;
  do {
    MakeJob(round > 0);
    if (Status status = processor->Start(&job_); !status.ok()) return status;
    if (const Status& status = job_.Wait(); !status.ok()) return status;
  } while (++round < kRoundsMax && IsLeft());
  return Check();
}

}  // namespace weft::processor
