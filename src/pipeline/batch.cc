#include "pipeline/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace weft::pipeline {
namespace {

constexpr uint64_t kColumnAlign = 64;

// Where one column after the other goes: each begins a line.
class Carver {
 public:
  explicit Carver(uint8_t* memory) : memory_(memory) {}

  template <typename T>
  void Take(T** column, uint64_t count) {
    *column = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + kColumnAlign - 1) & ~(kColumnAlign - 1);
  }
  uint64_t used() const { return used_; }

 private:
  uint8_t* const memory_;
  uint64_t used_ = 0;
};

template <typename Columns>
uint64_t Carve(const BatchOptions& options, uint8_t* memory, Columns columns) {
  Carver carver(memory);
  const uint64_t n = options.queries_max;
  for (uint64_t** column : {columns.hash, columns.word, columns.position, columns.placed})
    carver.Take(column, n);
  for (uint32_t** column : {columns.key_at, columns.value_at}) carver.Take(column, n);
  carver.Take(columns.claims, n / kSetQueries + 1);
  carver.Take(columns.values_used, 1);
  for (uint8_t** column : {columns.key_bytes, columns.wanted, columns.result})
    carver.Take(column, n);
  carver.Take(columns.keys, n * kKeyBytesMax);
  carver.Take(columns.values, options.gather_bytes);
  return carver.used();
}

struct ColumnPointers {
  uint64_t **hash, **word, **position, **placed;
  uint32_t **key_at, **value_at, **claims, **values_used;
  uint8_t **key_bytes, **wanted, **result, **keys, **values;
};

cache::Pages SystemMemory(uint64_t bytes) {
  Result<cache::Pages> pages = cache::SystemPages()->Reserve(bytes, false);
  WEFT_CHECK(pages.has_value());  // a megabyte of addresses
  return std::move(pages.value());
}

}  // namespace

uint64_t Batch::ColumnBytes(const BatchOptions& options) {
  uint64_t* words = nullptr;
  uint32_t* numbers = nullptr;
  uint8_t* bytes = nullptr;
  return Carve(options, nullptr,
               ColumnPointers{&words, &words, &words, &words, &numbers, &numbers, &numbers,
                              &numbers, &bytes, &bytes, &bytes, &bytes, &bytes});
}

Batch::Batch(const Plan& plan, const BatchOptions& options, cache::Pages pages)
    : plan_(plan),
      queries_max_(options.queries_max),
      pages_(std::move(pages)),
      values_capacity_(static_cast<uint32_t>(options.gather_bytes / 8)),
      kind_(queries_max_),
      state_(queries_max_),
      miss_(queries_max_),
      source_(queries_max_),
      tag_(queries_max_),
      command_at_(queries_max_) {
  Carve(options, pages_.data(),
        ColumnPointers{&hash_, &word_, &position_, &placed_, &key_at_, &value_at_, &claims_,
                       &values_used_, &key_bytes_, &wanted_, &result_, &keys_, &values_});
}

Batch::Batch(const Plan& plan) : Batch(plan, {}, SystemMemory(ColumnBytes({}))) {}

Result<std::unique_ptr<Batch>> Batch::Create(const Plan& plan, const BatchOptions& options) {
  Result<cache::Pages> pages = options.pages->Reserve(ColumnBytes(options), false);
  if (!pages) return pages.error();
  // The constructor is private so that no batch exists without its columns; owned at once.
  return std::unique_ptr<Batch>(new Batch(plan, options, std::move(pages.value())));
}

void Batch::Clear() {
  size_ = 0;
  keys_end_ = 0;
  has_barrier_ = false;
  searched_ = false;
  notes_due_ = false;
  kept_until_.clear();
  commands_.clear();
  replies_.clear();
  room_.clear();
}

uint32_t Batch::AddSource(int64_t room) {
  room_.push_back(room);
  kept_until_.push_back(0);
  return static_cast<uint32_t>(room_.size() - 1);
}

void Batch::Add(QueryKind kind, uint32_t source, uint32_t tag, std::string_view key,
                uint64_t hash) {
  WEFT_DCHECK(!full() && key.size() <= kKeyBytesMax);
  const uint32_t i = size_++;
  kind_[i] = kind;
  state_[i] = QueryState::kWaiting;
  miss_[i] = cache::Miss::kAbsent;
  source_[i] = source;
  tag_[i] = tag;
  hash_[i] = hash;
  word_[i] = 0;
  placed_[i] = 0;
  result_[i] = kResultNone;
  key_at_[i] = keys_end_;
  key_bytes_[i] = static_cast<uint8_t>(key.size());
  if (!key.empty()) std::memcpy(&keys_[keys_end_], key.data(), key.size());
  const auto key_bytes = static_cast<uint32_t>(key.size());
  if (i == 0) key_bytes_all_ = key_bytes % 8 == 0 ? key_bytes : 0;
  if (key_bytes != key_bytes_all_) key_bytes_all_ = 0;
  keys_end_ += key_bytes;
}

void Batch::AddRead(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash) {
  Add(QueryKind::kRead, source, tag, key, hash);
}

void Batch::AddCommand(uint32_t source, uint32_t tag, const cache::Command& command) {
  Add(QueryKind::kCommand, source, tag, command.key, command.hash);
  const uint32_t i = size_ - 1;
  command_at_[i] = static_cast<uint32_t>(commands_.size());
  commands_.push_back(command);
  // The copy in the batch outlives scratch space that the parser decoded a key into.
  commands_.back().key = key(i);
  replies_.emplace_back();
}

cache::Reply& Batch::TurnIntoCommand(uint32_t i) {
  WEFT_DCHECK(kind_[i] == QueryKind::kRead);
  kind_[i] = QueryKind::kCommand;
  command_at_[i] = static_cast<uint32_t>(commands_.size());
  cache::Command& command = commands_.emplace_back();
  command.hash = hash_[i];
  command.key = key(i);
  return replies_.emplace_back();
}

void Batch::ClearResults() {
  std::fill_n(wanted_, size_, uint8_t{kWantsNothing});
  std::fill_n(result_, size_, uint8_t{kResultNone});
  // A stage that stops may leave a word without its position: then it is still one of the index.
  std::fill_n(position_, size_, uint64_t{0});
  ClearClaims();
  *values_used_ = 0;
}

void Batch::ClearClaims() { std::fill_n(claims_, size_ / kSetQueries + 1, 0u); }

Batch::Gathered Batch::gathered(uint32_t i) const {
  const uint8_t* at = values_ + uint64_t{value_at_[i] & ~kValueNoteBit} * 8;
  Gathered gathered{};
  gathered.wants_note = (value_at_[i] & kValueNoteBit) != 0;
  uint32_t bytes = 0;
  std::memcpy(&gathered.client_flags, at, 4);
  std::memcpy(&bytes, at + 4, 4);
  gathered.value = {reinterpret_cast<const char*>(at) + kGatherHeaderBytes, bytes};
  return gathered;
}

task::QueryJob Batch::AsJob() {
  task::QueryJob job{};
  job.columns = columns();
  job.wanted = wanted_;
  job.placed = placed_;
  job.result = result_;
  job.value_at = value_at_;
  job.values = values_;
  job.values_used = values_used_;
  job.set_claims = claims_;
  job.values_capacity = values_capacity_;
  job.end = size_;
  job.key_bytes_all = key_bytes_all_;
  return job;
}

void Batch::AddOther(uint32_t source, uint32_t tag, bool barrier) {
  Add(QueryKind::kOther, source, tag, {}, 0);
  has_barrier_ |= barrier;
}

}  // namespace weft::pipeline
