// compaction/run_cursor.h: one sorted run of a job, table after table, as a sequence of entries.
//
// Threads   one thread at a time.
// Errors    kCorruption, naming the table: what TableInput and EntryWalk find, and a key without
//           what all keys of the job should begin with; keys_outside_bounds() tells that case.
// Cost      a key's prefix is worked out once, when the key is reached.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compaction/entry_walk.h"
#include "compaction/job.h"
#include "compaction/key_prefix.h"
#include "compaction/table_input.h"

namespace weft::compaction {

template <typename Order>
class RunCursor {
 public:
  // Above the prefixes of all keys, or at least not below: the prefix of a cursor at its end.
  static constexpr uint64_t kPrefixAtEnd = ~uint64_t{0};

  // What is given must outlive this. The first Next moves to the first entry.
  RunCursor(const Job& job, const std::vector<JobTable>& tables, const KeyPrefix& prefix,
            Order order)
      : job_(&job), tables_(&tables), prefix_of_(&prefix), walk_(order) {
    if (job.first_user_key.has_value()) range_.first = *job.first_user_key;
    if (job.end_user_key.has_value()) range_.end = *job.end_user_key;
    before_range_ = range_.first.has_value();
    in_doubt_ = before_range_;
  }

  // Moves to the next entry of the range. False at the end and after an error: see status().
  bool Next() {
    const Step step = walk_.Next();
    if (step != Step::kEntry || in_doubt_) [[unlikely]]
      return NextSlowly(step);
    return SetPrefix();
  }

  bool valid() const { return valid_; }
  // Until the next Next. REQUIRES: valid()
  std::string_view key() const { return walk_.key(); }
  std::string_view value() const { return walk_.value(); }
  // 0 in orders other than bytewise.
  uint64_t prefix() const { return prefix_; }

  const Status& status() const { return status_; }
  bool keys_outside_bounds() const { return keys_outside_bounds_; }
  uint64_t bytes_read() const {
    return bytes_read_ + (input_ != nullptr ? input_->bytes_read() : 0);
  }

 private:
  using Step = typename EntryWalk<Order>::Step;
  enum class Place : uint8_t { kBefore, kInside, kBeyond };

  bool SetPrefix();
  [[gnu::noinline]] bool NextSlowly(Step step);
  bool OpenNextBlock();
  bool OpenNextTable();
  Place PlaceInRange();
  bool End(Status status = Status::Ok());

  const Job* job_;
  const std::vector<JobTable>* tables_;
  const KeyPrefix* prefix_of_;
  EntryWalk<Order> walk_;
  uint64_t prefix_ = kPrefixAtEnd;
  bool valid_ = false;
  bool ended_ = false;
  bool in_doubt_;      // entries may lie outside the range
  bool before_range_;  // none inside it was met
  UserKeyRange range_;
  size_t next_table_ = 0;
  std::unique_ptr<TableInput> input_;
  uint64_t bytes_read_ = 0;  // of tables that are done
  bool keys_outside_bounds_ = false;
  Status status_;
};

template <typename Order>
inline bool RunCursor<Order>::SetPrefix() {
  valid_ = true;
  if constexpr (std::is_same_v<Order, table::InternalBytewiseOrder>) {
    const size_t common = prefix_of_->common_bytes();
    const std::string_view now = key();
    if (walk_.shared() < common || now.size() < common + table::kTrailerBytes) [[unlikely]] {
      if (!prefix_of_->HasCommon(now)) {
        prefix_ = 0;  // comes before all keys that have a trailer
        if (common == 0) return true;
        keys_outside_bounds_ = true;
        return End(input_->Corruption("holds a key outside the table's bounds"));
      }
    }
    prefix_ = prefix_of_->Of(now);
  } else {
    prefix_ = 0;
  }
  return true;
}

template <typename Order>
bool RunCursor<Order>::NextSlowly(Step step) {
  if (ended_) return false;
  for (;; step = walk_.Next()) {
    if (step == Step::kDamaged) return End(input_->Corruption(walk_.damage()));
    if (step == Step::kEndOfBlock) {
      if (!OpenNextBlock()) return false;
      continue;
    }
    switch (in_doubt_ ? PlaceInRange() : Place::kInside) {
      case Place::kBefore: continue;
      case Place::kInside: return SetPrefix();
      case Place::kBeyond: return End();
    }
  }
}

template <typename Order>
typename RunCursor<Order>::Place RunCursor<Order>::PlaceInRange() {
  if (key().size() < table::kTrailerBytes) {
    return before_range_ ? Place::kBefore : Place::kInside;  // comes before all other keys
  }
  const std::string_view user_key = table::UserKey(key());
  if (before_range_) {
    if (job_->comparator->CompareUser(user_key, *range_.first) < 0) return Place::kBefore;
    before_range_ = false;
    in_doubt_ = input_->may_reach_beyond_range();
  }
  if (!input_->may_reach_beyond_range()) return Place::kInside;
  return job_->comparator->CompareUser(user_key, *range_.end) < 0 ? Place::kInside : Place::kBeyond;
}

template <typename Order>
bool RunCursor<Order>::OpenNextBlock() {
  for (;;) {
    if (input_ == nullptr && !OpenNextTable()) return false;
    Result<std::string_view> block = input_->NextBlock();
    if (!block) return End(block.error());
    if (!block->empty()) {
      if (!walk_.StartBlock(*block, input_->next_block_ahead()))
        return End(input_->Corruption(walk_.damage()));
      in_doubt_ = before_range_ || input_->may_reach_beyond_range();
      return true;
    }
    bytes_read_ += input_->bytes_read();
    input_.reset();
  }
}

template <typename Order>
bool RunCursor<Order>::OpenNextTable() {
  if (next_table_ == tables_->size()) return End();
  Result<std::unique_ptr<TableInput>> input =
      TableInput::Open(*job_, (*tables_)[next_table_++], range_);
  if (!input) return End(input.error());
  input_ = std::move(*input);
  return true;
}

template <typename Order>
bool RunCursor<Order>::End(Status status) {
  valid_ = false;
  ended_ = true;
  in_doubt_ = true;  // so that Next asks here again
  prefix_ = kPrefixAtEnd;
  status_ = std::move(status);
  return false;
}

}  // namespace weft::compaction
