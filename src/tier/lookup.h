// tier/lookup.h: what a connection asks of the durable store, and the answers to it.
//
// Threads   one at a time: the connection's worker, the thread that looks up, the worker again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tier {

enum class Answered : uint8_t {
  kNot,     // not yet
  kAbsent,  // the store has no such key
  kItem,    // `bytes` are its value there (tier/item.h)
  kError,   // it could not be read, or is no item
};

struct Asked {
  std::string key;
  uint64_t hash = 0;
  Answered answered = Answered::kNot;
  uint64_t changes = 0;  // of its stripe before it was read: while they are the same, it holds
  std::string bytes;
};

// In the order in which they will be wanted.
class Lookup {
 public:
  // More are asked for only when these are answered.
  static constexpr size_t kKeysMax = 128;
  // Once so many bytes are found, the rest stays unanswered.
  static constexpr size_t kBytesMax = size_t{2} << 20;
  // What an answer counts as beside its bytes: about what a reply takes of its source's room.
  static constexpr size_t kAnswerBytes = 64;

  // `bytes_max`: what whoever asks can use at once. What is found beyond that would be thrown away,
  // and looked up again.
  explicit Lookup(size_t bytes_max = kBytesMax)
      : bytes_max_(std::clamp(bytes_max, size_t{1}, kBytesMax)) {}

  std::vector<Asked>& asked() { return asked_; }
  bool full() const { return asked_.size() >= kKeysMax || bytes_max_ == 1; }
  size_t bytes_max() const { return bytes_max_; }
  // What else will take room before all that is asked for is used.
  void LowerBytesMax(size_t bytes) { bytes_max_ -= std::min(bytes, bytes_max_ - 1); }
  void Add(std::string_view key, uint64_t hash) {
    asked_.push_back({std::string(key), hash, Answered::kNot, 0, {}});
  }
  // Keys that were looked up.
  size_t answered() const {
    return static_cast<size_t>(std::ranges::count_if(
        asked_, [](const Asked& asked) { return asked.answered != Answered::kNot; }));
  }
  // Of all that was found.
  size_t found_bytes() const {
    size_t bytes = 0;
    for (const Asked& asked : asked_) bytes += asked.bytes.size();
    return bytes;
  }

  // The answer about `key`, or null. Quick where keys are asked for in the order of Add.
  Asked* Find(std::string_view key, uint64_t hash) {
    for (size_t i = 0; i < asked_.size(); i++) {
      Asked& asked = asked_[(next_ + i) % asked_.size()];
      if (asked.hash != hash || asked.key != key || asked.answered == Answered::kNot) continue;
      next_ = (next_ + i) % asked_.size();
      return &asked;
    }
    return nullptr;
  }

 private:
  size_t bytes_max_;
  std::vector<Asked> asked_;
  size_t next_ = 0;
};

}  // namespace weft::tier
