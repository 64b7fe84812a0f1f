// table/block_builder.h: packs keys and values, in order, into one block.
//
// Layout    entries: varint32 bytes of the key shared with the one before, varint32 bytes of the
//           rest, varint32 bytes of the value, the rest of the key, the value. Every
//           restart_interval'th key is whole. Then the offsets of those (fixed32 each) and their
//           number (fixed32).
// Threads   one thread at a time.
// Cost      key and value are copied once, to where the block is sent from.
// Source    LevelDB's blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/copy_short.h"
#include "table/output_buffer.h"
#include "table/shared_prefix.h"

namespace weft::table {

class BlockBuilder {
 public:
  // REQUIRES: restart_interval >= 1
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) {
    WEFT_CHECK(restart_interval >= 1);
  }

  // REQUIRES: no block is begun, or it is empty
  void SetRestartInterval(int restart_interval) {
    WEFT_CHECK(restart_interval >= 1);
    restart_interval_ = restart_interval;
  }

  // Begins a block at the end of *out, which must outlive it and to which nothing else may be added
  // before Finish. The last key of the block before remains until the first Add.
  void Begin(OutputBuffer* out) {
    out_ = out;
    start_ = out->size();
    restarts_.assign(1, 0);
    run_entries_ = 0;
    entries_ = 0;
  }

  // REQUIRES: Begin was called; `key` is above all keys of the block
  void Add(std::string_view key, std::string_view value);

  // Writes what follows the entries and returns the block: valid until *out changes.
  std::string_view Finish();

  // Bytes that Finish would return now.
  size_t Bytes() const { return out_->size() - start_ + (restarts_.size() + 1) * sizeof(uint32_t); }
  bool empty() const { return entries_ == 0; }
  std::string_view last_key() const { return last_key_.From(0); }

 private:
  static constexpr size_t kHeaderBytesMax = 3 * base::kVarint32BytesMax;

  int restart_interval_;
  OutputBuffer* out_ = nullptr;
  size_t start_ = 0;  // of the block in *out_
  std::vector<uint32_t> restarts_;
  int run_entries_ = 0;  // since the last whole key
  uint64_t entries_ = 0;
  OutputBuffer last_key_;
};

inline void BlockBuilder::Add(std::string_view key, std::string_view value) {
  if (run_entries_ == restart_interval_) {
    restarts_.push_back(static_cast<uint32_t>(out_->size() - start_));
    run_entries_ = 0;
  }
  size_t shared = 0;
  if (run_entries_ != 0) {
    shared = SharedPrefix(last_key_.data(), key.data(), std::min(last_key_.size(), key.size()));
  }
  const size_t rest = key.size() - shared;

  char* to = out_->Reserve(kHeaderBytesMax + rest + value.size());
  to = base::EncodeVarint32(to, static_cast<uint32_t>(shared));
  to = base::EncodeVarint32(to, static_cast<uint32_t>(rest));
  to = base::EncodeVarint32(to, static_cast<uint32_t>(value.size()));
  base::CopyShort(to, key.data() + shared, rest);
  to += rest;
  base::CopyShort(to, value.data(), value.size());
  out_->CommitTo(to + value.size());

  last_key_.CutTo(shared);
  last_key_.Append(key.substr(shared));
  run_entries_++;
  entries_++;
}

inline std::string_view BlockBuilder::Finish() {
  char* to = out_->Reserve((restarts_.size() + 1) * sizeof(uint32_t));
  for (const uint32_t restart : restarts_) {
    base::EncodeFixed32(to, restart);
    to += sizeof restart;
  }
  base::EncodeFixed32(to, static_cast<uint32_t>(restarts_.size()));
  out_->CommitTo(to + sizeof(uint32_t));
  return out_->From(start_);
}

}  // namespace weft::table
