// compaction/key_prefix.h: the eight bytes of a user key that decide most comparisons of a merge.
//
// All keys of a job lie between the smallest and the largest of its tables, so in bytewise order
// they all begin with what those two have in common. The eight bytes behind that, as one big-endian
// number and with zeros where the key ends, order keys wherever they differ; where they are the
// same nothing is decided ("a" and "a\0"), and whole keys are compared.
//
// Threads   const calls from any thread.
// Source    merges over eight-byte keys are usual in parallel compaction; leaving out the common
//           beginning is ours.
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
  // Nothing is known to be common.
  KeyPrefix() = default;
  // What all keys of the job's tables must begin with. REQUIRES: bytewise order
  explicit KeyPrefix(const Job& job);

  const std::string& common() const { return common_; }
  size_t common_bytes() const { return common_.size(); }
  // Whether the key has what all should have, and a trailer behind it.
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
