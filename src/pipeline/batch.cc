#include "pipeline/batch.h"

#include <cstring>

#include "base/check.h"

namespace weft::pipeline {

Batch::Batch(const Plan& plan)
    : plan_(plan),
      kind_(kQueriesMax),
      state_(kQueriesMax),
      miss_(kQueriesMax),
      key_bytes_(kQueriesMax),
      source_(kQueriesMax),
      tag_(kQueriesMax),
      key_at_(kQueriesMax),
      command_at_(kQueriesMax),
      hash_(kQueriesMax),
      word_(kQueriesMax),
      position_(kQueriesMax),
      placed_(kQueriesMax),
      keys_(size_t{kQueriesMax} * kKeyBytesMax) {}

void Batch::Clear() {
  size_ = 0;
  keys_end_ = 0;
  commands_.clear();
  replies_.clear();
  room_.clear();
}

uint32_t Batch::AddSource(int64_t room) {
  room_.push_back(room);
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
  key_at_[i] = keys_end_;
  key_bytes_[i] = static_cast<uint8_t>(key.size());
  if (!key.empty()) std::memcpy(&keys_[keys_end_], key.data(), key.size());
  keys_end_ += static_cast<uint32_t>(key.size());
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

void Batch::AddOther(uint32_t source, uint32_t tag) { Add(QueryKind::kOther, source, tag, {}, 0); }

}  // namespace weft::pipeline
