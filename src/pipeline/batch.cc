#include "pipeline/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/program.h"

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

// One behind the last of the bytes from `begin` on that are all `value`, up to `limit`.
uint32_t RunEnd(const uint8_t* bytes, uint8_t value, uint32_t begin, uint32_t limit) {
  const uint64_t all = 0x0101010101010101u * value;
  uint32_t end = begin;
  for (uint64_t eight; limit - end >= 8; end += 8) {
    std::memcpy(&eight, bytes + end, 8);
    if (eight != all) break;
  }
  while (end < limit && bytes[end] == value) end++;
  return end;
}

cache::Pages SystemMemory(uint64_t bytes) {
  Result<cache::Pages> pages = cache::SystemPages()->Reserve(bytes, false);
  if (!pages) base::EndOutOfMemory();  // a worker can do nothing without it
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
      values_capacity_(static_cast<uint32_t>(options.gather_bytes / 8)),
      kind_(queries_max_),
      state_(queries_max_),
      miss_(queries_max_),
      owners_(queries_max_),
      command_at_(queries_max_) {
  TakeColumns(std::move(pages));
}

Batch::Batch(const Plan& plan) : Batch(plan, {}, SystemMemory(ColumnBytes({}))) {}

Result<std::unique_ptr<Batch>> Batch::Create(const Plan& plan, const BatchOptions& options) {
  Result<cache::Pages> pages = options.pages->Reserve(ColumnBytes(options), false);
  if (!pages) return pages.error();
  // The constructor is private so that no batch exists without its columns; owned at once.
  return std::unique_ptr<Batch>(new Batch(plan, options, std::move(pages.value())));
}

void Batch::TakeColumns(cache::Pages pages) {
  BatchOptions options;
  options.queries_max = queries_max_;
  options.gather_bytes = uint64_t{values_capacity_} * 8;
  pages_ = std::move(pages);
  Carve(options, pages_.data(),
        ColumnPointers{&hash_, &word_, &position_, &placed_, &key_at_, &value_at_, &claims_,
                       &values_used_, &key_bytes_, &wanted_, &result_, &keys_, &values_});
}

cache::Pages Batch::LeaveColumns() {
  const task::QueryJob old = AsJob();
  cache::Pages left = std::move(pages_);
  TakeColumns(SystemMemory(left.size()));
  std::copy_n(old.columns.hash, size_, hash_);
  std::copy_n(old.columns.word, size_, word_);
  std::copy_n(old.columns.position, size_, position_);
  std::copy_n(old.placed, size_, placed_);
  std::copy_n(old.columns.key_at, size_, key_at_);
  std::copy_n(old.columns.key_bytes, size_, key_bytes_);
  std::copy_n(old.columns.keys, keys_end_, keys_);
  std::copy_n(old.wanted, size_, wanted_);
  std::copy_n(old.result, size_, result_);
  // Before anybody runs these queries again: a device that wakes in a change looks (task::IsLeft).
  for (uint32_t i = 0; i < size_; i++)
    task::StoreRelaxed8(const_cast<uint8_t*>(old.wanted) + i, kWantsNothing);
  task::FullFence();
  return left;
}

void Batch::Clear() {
  std::fill_n(kind_.data(), size_, QueryKind::kRead);
  std::fill_n(state_.data(), size_, QueryState::kWaiting);
  std::fill_n(miss_.data(), size_, cache::Miss::kAbsent);
  std::fill_n(result_, size_, uint8_t{kResultNone});
  entries_end_ = std::max(entries_end_, size_);
  if (has_commands()) std::fill_n(placed_, size_, uint64_t{0});
  size_ = 0;
  keys_end_ = 0;
  has_barrier_ = false;
  others_ = skipped_ = misses_ = 0;
  value_bytes_ = 0;
  searched_ = false;
  notes_due_ = false;
  commands_.clear();
  replies_.clear();
  sources_.clear();
}

void Batch::ForgetEntries() {
  std::fill_n(word_, entries_end_, uint64_t{0});
  // A stage that stops may leave a word without its position: then it is still one of the index.
  std::fill_n(position_, entries_end_, uint64_t{0});
  entries_end_ = 0;
}

uint32_t Batch::AddSource(int64_t room) {
  sources_.push_back({room});
  return sources() - 1;
}

// All of it but its command.
void Batch::AddCommandQuery(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash) {
  const uint32_t i = size_;
  AddRead(source, tag, key, hash);
  kind_[i] = QueryKind::kCommand;
  command_at_[i] = static_cast<uint32_t>(commands_.size());
  replies_.emplace_back();
}

// Makes it a command about the key that was added last. The copy in the batch outlives scratch
// space that the parser decoded a key into.
cache::Command& Batch::AboutLastKey(cache::Command& command) const {
  command.key = key(size_ - 1);
  command.hash = hash_[size_ - 1];
  return command;
}

cache::Command& Batch::AddCommand(uint32_t source, uint32_t tag, std::string_view key,
                                  uint64_t hash) {
  AddCommandQuery(source, tag, key, hash);
  return AboutLastKey(commands_.emplace_back());
}

cache::Command& Batch::AddCommand(uint32_t source, uint32_t tag, std::string_view key,
                                  uint64_t hash, const cache::Command& like) {
  AddCommandQuery(source, tag, key, hash);
  return AboutLastKey(commands_.emplace_back(like));
}

cache::Reply& Batch::TurnIntoCommand(uint32_t i) {
  WEFT_DCHECK(kind_[i] == QueryKind::kRead);
  kind_[i] = QueryKind::kCommand;
  if (result_[i] == kResultRead) result_[i] = kResultNone;  // what was gathered is no answer of it
  command_at_[i] = static_cast<uint32_t>(commands_.size());
  cache::Command& command = commands_.emplace_back();
  command.hash = hash_[i];
  command.key = key(i);
  return replies_.emplace_back();
}

void Batch::ClearGathered() {
  ClearClaims();
  *values_used_ = 0;
}

void Batch::ClearClaims() { std::fill_n(claims_, size_ / kSetQueries + 1, 0u); }

uint32_t Batch::GatheredEnd(uint32_t begin, uint32_t limit) const {
  return RunEnd(result_, kResultRead, begin, limit);
}

uint32_t Batch::UnansweredReadsEnd(uint32_t begin, uint32_t limit) const {
  static_assert(sizeof(QueryKind) == 1);
  const auto* const kinds = reinterpret_cast<const uint8_t*>(kind_.data());
  const uint32_t reads_end = RunEnd(kinds, static_cast<uint8_t>(QueryKind::kRead), begin, limit);
  return RunEnd(result_, kResultNone, begin, reads_end);
}

uint32_t Batch::UnansweredEnd(uint32_t begin, uint32_t limit) const {
  return RunEnd(result_, kResultNone, begin, limit);
}

uint32_t Batch::DoneEnd(uint32_t begin, uint32_t limit) const {
  static_assert(sizeof(QueryState) == 1);
  return RunEnd(reinterpret_cast<const uint8_t*>(state_.data()),
                static_cast<uint8_t>(QueryState::kDone), begin, limit);
}

uint32_t Batch::SourceEnd(uint32_t begin, uint32_t limit) const {
  if (sources() == 1) return limit;
  uint32_t end = begin + 1;
  while (end < limit && owners_[end].source == owners_[begin].source) end++;
  return end;
}

uint32_t Batch::KeyBytesOfAll() const {
  if (size_ == 0 || key_bytes_[0] % 8 != 0) return 0;
  // Each as long as the next.
  return std::memcmp(key_bytes_, key_bytes_ + 1, size_ - 1) == 0 ? key_bytes_[0] : 0;
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
  job.key_bytes_all = KeyBytesOfAll();
  return job;
}

void Batch::AddOther(uint32_t source, uint32_t tag, bool barrier, std::string_view key,
                     uint64_t hash) {
  AddRead(source, tag, key, hash);
  kind_[size_ - 1] = QueryKind::kOther;
  others_++;
  has_barrier_ |= barrier;
}

}  // namespace weft::pipeline
