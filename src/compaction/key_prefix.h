// compaction/key_prefix.h: the eight bytes of a user key that decide most comparisons of a merge.
//
// All keys of a job lie between the smallest and the largest of its tables. So in bytewise order
// they all begin with what those two have in common. The next eight bytes, as a big-endian number
// with zeros where the key ends, order keys wherever the numbers differ. If they are the same ("a"
// and "a\0"), whole keys are compared.
//
// Threads   const calls from any thread.
// Source    merges over eight-byte keys are usual in parallel compaction; leaving out the common
//           prefix is ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compaction/job.h"
#include "table/key_order.h"
#include "table/shared_prefix.h"

namespace weft::compaction {

class KeyPrefix {
 public:
  // Assumes nothing to be common.
  KeyPrefix() = default;
  // The prefix that all keys of the job's tables must have. REQUIRES: bytewise order
  explicit KeyPrefix(const Job& job);

  const std::string& common() const { return common_; }
  size_t common_bytes() const { return common_.size(); }
  // Whether the key has the common prefix, and a trailer behind it.
  bool HasCommon(std::string_view internal_key) const {
    return internal_key.size() >= common_.size() + table::kTrailerBytes &&
           table::SharedPrefix(internal_key.data(), common_.data(), common_.size()) ==
               common_.size();
  }
  // REQUIRES: HasCommon(internal_key)
  uint64_t Of(std::string_view internal_key) const {
    const size_t bytes = internal_key.size() - table::kTrailerBytes - common_.size();
    const uint64_t word = table::LoadBigEndian64(internal_key.data() + common_.size());
    if (bytes >= 8) return word;
    // The trailer made the load safe, but is no part of the user key.
    return bytes == 0 ? 0 : word & (~uint64_t{0} << (64 - 8 * bytes));
  }

 private:
  std::string common_;
};

}  // namespace weft::compaction
