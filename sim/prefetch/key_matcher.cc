#include "sim/prefetch/key_matcher.h"

#include <algorithm>

namespace weft::sim {
namespace {

template <typename T>
std::optional<T> Take(std::deque<T>& waiting, uint64_t bucket, int core) {
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const T& each) {
    return each.bucket == bucket && each.core == core;
  });
  if (found == waiting.end()) return std::nullopt;
  const T taken = *found;
  waiting.erase(found);
  return taken;
}

}  // namespace

KeyMatcher::Kept KeyMatcher::OnBucket(const BucketRead& read) {
  Kept kept;
  kept.key = Take(keys_, read.bucket, read.core);
  if (kept.key) return kept;
  kept.displaced = Take(buckets_, read.bucket, read.core);
  if (!kept.displaced && buckets_.size() == buckets_max_) {
    kept.displaced = buckets_.front();
    buckets_.pop_front();
  }
  buckets_.push_back(read);
  return kept;
}

std::optional<BucketRead> KeyMatcher::OnKey(const BucketKey& key) {
  std::optional<BucketRead> read = Take(buckets_, key.bucket, key.core);
  if (read) {
    ++counts_->triggers_waited;
    return read;
  }
  if (Take(keys_, key.bucket, key.core)) {
    ++counts_->keys_displaced;
  } else if (keys_.size() == kKeysMax) {
    ++counts_->keys_displaced;
    keys_.pop_front();
  }
  keys_.push_back(key);
  return std::nullopt;
}

}  // namespace weft::sim
