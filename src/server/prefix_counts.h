// server/prefix_counts.h: commands counted by the prefix of their key: `stats detail`.
//
// A prefix is what stands before the first delimiter; keys without one do not count. Clients choose
// prefixes, so there is room for kPrefixesMax, and kOther stands for all further ones. So it does
// for prefixes that a line of text cannot show.
//
// Threads   Note: one, the worker's. The others: any.
// Source    memcached 1.6.18 as observed: gets, stores and deletes count, meta commands do not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "protocol/request.h"

namespace weft::server {

class PrefixCounts {
 public:
  static constexpr size_t kPrefixesMax = 4096;  // memcached has no bound
  static constexpr std::string_view kOther = "<other>";

  struct Counts {
    uint64_t get = 0, hit = 0, set = 0, del = 0;
  };

  explicit PrefixCounts(char delimiter) : delimiter_(delimiter) {}

  void Note(const protocol::Request& request, std::string_view key, const cache::Reply& reply)
      WEFT_EXCLUDES(mutex_);
  // Adds all to `sum`, which keeps the bound.
  void AddTo(PrefixCounts* sum) const WEFT_EXCLUDES(mutex_);
  void Clear() WEFT_EXCLUDES(mutex_);
  // "PREFIX <prefix> get n hit n set n del n", a line each, and END.
  std::string ToText() const WEFT_EXCLUDES(mutex_);

 private:
  Counts& CountsOfLocked(std::string_view prefix) WEFT_REQUIRES(mutex_);

  const char delimiter_;
  mutable base::Mutex mutex_;
  std::map<std::string, Counts, std::less<>> counts_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::server
