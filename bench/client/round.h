// bench/client/round.h: the requests that one connection sends at once, and what must come back.
//
// A round knows every byte of its proper replies from the ids alone (bench/harness/payload.h). So
// its reader accepts a reply only if key, flags, length and value are the right ones.
//
// Protocol  memcached text: get (one or many keys) and set.
// Threads   one owner.
// Cost      no allocation once the buffers have grown.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::bench {

// Sizes of all keys and values of a run. With max > min the sizes are spread log-uniformly, each
// fixed by its id.
struct PayloadShape {
  uint32_t key_bytes = 16;
  uint32_t value_bytes_min = 64;
  uint32_t value_bytes_max = 64;

  uint32_t ValueBytes(uint32_t id) const;
};

class Round {
 public:
  explicit Round(const PayloadShape& shape) : shape_(shape) {}

  void Clear();
  // One get command for all of `ids`: one request, as many keys.
  void AddGet(std::span<const uint32_t> ids);
  void AddGet(uint32_t id) { AddGet(std::span(&id, 1)); }
  // `ttl_s` 0: never expires.
  void AddSet(uint32_t id, uint32_t ttl_s = 0);

  bool empty() const { return ops_.empty(); }
  size_t op_count() const { return ops_.size(); }
  const std::string& request() const { return request_; }

  // Once the round is done: the ids of all gets in order, and whether each hit.
  const std::vector<uint32_t>& get_ids() const { return get_ids_; }
  const std::vector<uint8_t>& get_hits() const { return get_hits_; }

 private:
  friend class RoundReader;
  struct Op {
    bool is_set;
    uint32_t keys;  // of a get
  };

  const PayloadShape shape_;
  std::string request_;
  std::vector<Op> ops_;
  std::vector<uint32_t> get_ids_;
  std::vector<uint8_t> get_hits_;
};

// What replies said, summed over rounds.
struct ReplyCounts {
  uint64_t ops = 0;
  uint64_t keys = 0;  // asked for by gets
  uint64_t hits = 0;  // each with its whole value verified
  uint64_t stored = 0;
  uint64_t refused = 0;  // a set that was answered properly, but not with STORED
  uint64_t errors = 0;   // replies that are wrong; the first one ends the run
  std::string first_error;

  uint64_t misses() const { return keys - hits; }
  void Merge(const ReplyCounts& other);
};

// Checks the replies of one round as they arrive in pieces.
class RoundReader {
 public:
  // `round` and `counts` must outlive the reader's use of them.
  void Start(Round* round, ReplyCounts* counts);
  // Takes the whole replies (for gets: whole values) at the front of `bytes`; returns how many
  // bytes that were. After a wrong reply takes nothing more: see failed().
  size_t Consume(std::span<const char> bytes);

  bool done() const { return failed_ || op_ == round_->ops_.size(); }
  bool failed() const { return failed_; }

 private:
  size_t ConsumeGet(std::span<const char> bytes);
  size_t ConsumeValue(std::span<const char> bytes);
  size_t ConsumeSet(std::span<const char> bytes);
  void FinishOp();
  size_t Fail(std::span<const char> bytes, const char* why);

  Round* round_ = nullptr;
  ReplyCounts* counts_ = nullptr;
  size_t op_ = 0;         // index of the operation whose reply is next
  uint32_t op_keys_ = 0;  // keys of it that are behind us
  size_t get_id_ = 0;     // index in get_ids_ of the next key
  bool failed_ = false;
};

}  // namespace weft::bench
