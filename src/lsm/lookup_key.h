// lsm/lookup_key.h: the internal key that a read of one user key looks for.
//
// Memory    keys of up to 192 bytes need none of their own.
// Threads   a value; const calls from any.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "table/internal_key.h"

namespace weft::lsm {

class LookupKey {
 public:
  // Finds the newest entry of `user_key` that is not newer than `sequence`.
  LookupKey(std::string_view user_key, table::SequenceNumber sequence)
      : bytes_(user_key.size() + table::kTrailerBytes) {
    if (bytes_ > sizeof here_) elsewhere_ = std::make_unique_for_overwrite<char[]>(bytes_);
    char* to = elsewhere_ != nullptr ? elsewhere_.get() : here_;
    // An empty key may have no address.
    if (!user_key.empty()) std::memcpy(to, user_key.data(), user_key.size());
    base::EncodeFixed64(to + user_key.size(), table::PackTrailer(sequence, table::kTypeForSeek));
  }
  LookupKey(const LookupKey&) = delete;
  LookupKey& operator=(const LookupKey&) = delete;

  std::string_view internal_key() const {
    return {elsewhere_ != nullptr ? elsewhere_.get() : here_, bytes_};
  }
  std::string_view user_key() const { return table::UserKey(internal_key()); }

 private:
  const size_t bytes_;
  std::unique_ptr<char[]> elsewhere_;
  char here_[200];
};

}  // namespace weft::lsm
