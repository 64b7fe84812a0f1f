// pipeline/batch.h: the queries that go through the tasks together, as a structure of arrays.
//
// Task PP adds queries in the order in which they must take effect; the stages fill in what became
// of each; task WR reads it. The batch carries its Plan, so plans change between batches only.
//
// A query is one of three kinds: a plain read (key only: the common case costs no Command), a
// command about a key, or something that is not about a key but has its place in the order.
//
// Lifetime  keys are copied in; a command's value and other views stay the owner's and must stay
//           until the batch is done. What the results point at is valid within the epoch of
//           CpuStage::Run, which calls Sink::Write for it.
// Threads   one at a time.
// Memory    columns and keys are allocated once, for kQueriesMax queries; commands as they come.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/command.h"
#include "pipeline/plan.h"
#include "task/columns.h"

namespace weft::pipeline {

enum class QueryKind : uint8_t { kRead, kCommand, kOther };

// What became of a query.
enum class QueryState : uint8_t {
  kWaiting,
  kDone,
  kSkipped,  // not run: its source may write no more for now, or an earlier one of it was skipped
};

class Batch {
 public:
  static constexpr uint32_t kQueriesMax = 1024;

  explicit Batch(const Plan& plan);

  void Clear();
  const Plan& plan() const { return plan_; }
  uint32_t size() const { return size_; }
  bool full() const { return size_ == kQueriesMax; }

  // A source is whoever gets the replies: `room` is how many bytes may be written for it in this
  // batch before the rest of its queries is skipped. Returns its number.
  uint32_t AddSource(int64_t room);

  // `tag` is the owner's. REQUIRES: !full(), 1 to kKeyBytesMax key bytes
  void AddRead(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash);
  void AddCommand(uint32_t source, uint32_t tag, const cache::Command& command);
  void AddOther(uint32_t source, uint32_t tag);

  QueryKind kind(uint32_t i) const { return kind_[i]; }
  QueryState state(uint32_t i) const { return state_[i]; }
  uint32_t source(uint32_t i) const { return source_[i]; }
  uint32_t tag(uint32_t i) const { return tag_[i]; }
  std::string_view key(uint32_t i) const {
    return {reinterpret_cast<const char*>(keys_.data()) + key_at_[i], key_bytes_[i]};
  }
  // REQUIRES: kind kCommand
  const cache::Command& command(uint32_t i) const { return commands_[command_at_[i]]; }
  const cache::Reply& reply(uint32_t i) const { return replies_[command_at_[i]]; }
  cache::Reply& reply(uint32_t i) { return replies_[command_at_[i]]; }

  // Results of a plain read: location of the object, 0 for a miss, and why it is one.
  uint64_t location(uint32_t i) const { return word_[i] & kLocationMask; }
  cache::Miss miss(uint32_t i) const { return miss_[i]; }

  task::Columns columns() {
    return {hash_.data(), key_at_.data(), key_bytes_.data(), keys_.data(), word_.data(),
            position_.data()};
  }

  // For stages.
  void SetState(uint32_t i, QueryState state) { state_[i] = state; }
  void SetMiss(uint32_t i, cache::Miss miss) {
    word_[i] = 0;
    miss_[i] = miss;
  }
  // Gives a plain read a command and a reply of its own, for an answer that is not in the log.
  cache::Reply& TurnIntoCommand(uint32_t i);
  uint64_t word(uint32_t i) const { return word_[i]; }
  uint64_t position(uint32_t i) const { return position_[i]; }
  uint64_t hash(uint32_t i) const { return hash_[i]; }
  uint64_t& placed(uint32_t i) { return placed_[i]; }
  int64_t& room(uint32_t source) { return room_[source]; }

 private:
  void Add(QueryKind kind, uint32_t source, uint32_t tag, std::string_view key, uint64_t hash);

  const Plan plan_;
  uint32_t size_ = 0;
  uint32_t keys_end_ = 0;
  std::vector<QueryKind> kind_;
  std::vector<QueryState> state_;
  std::vector<cache::Miss> miss_;
  std::vector<uint8_t> key_bytes_;
  std::vector<uint32_t> source_, tag_, key_at_, command_at_;
  std::vector<uint64_t> hash_, word_, position_;
  std::vector<uint64_t> placed_;  // task MM: location of the object to be published, or 0
  std::vector<uint8_t> keys_;
  std::vector<cache::Command> commands_;
  std::vector<cache::Reply> replies_;
  std::vector<int64_t> room_;  // by source
};

}  // namespace weft::pipeline
