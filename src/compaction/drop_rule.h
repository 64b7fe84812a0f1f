// compaction/drop_rule.h: which entries of a compaction nobody can see any more.
//
// An entry goes if a newer one of its user key is visible to the oldest snapshot. A deletion also
// goes if that snapshot sees it and no deeper level may hold its key. Malformed keys (of a type
// from a later format, or damage that no checksum shows) are kept and counted, as in LevelDB. The
// rule begins anew after them. At an end of an output they make its edit fail, because such ends
// would order no level (lsm/version.h).
//
// A value that has ended turns its entry into a deletion (DropsEnded): what it hid stays hidden.
//
// Threads   one thread at a time.
// Cost      a comparison with the previous user key, and a copy of it where they differ.
// Source    LevelDB's rule. Ours: an exact repetition of the entry before goes, too; stores that
//           were repaired can have such.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/job.h"
#include "table/output_buffer.h"
#include "table/shared_prefix.h"

namespace weft::compaction {

class DropRule {
 public:
  // The job must outlive this.
  explicit DropRule(const Job& job) : job_(job), next_deeper_(job.deeper.size(), 0) {}

  // Whether the entry's value has ended.
  static bool HasEnded(const LifetimeRule& rule, std::string_view internal_key,
                       std::string_view value);

  // For an entry that Drops let pass and that has ended: true if nothing of it need stay. Otherwise
  // *deletion is the deletion that takes its place.
  bool DropsEnded(std::string_view internal_key, std::string* deletion);

  // Whether the entry goes. Ask for every entry, in order.
  bool Drops(std::string_view internal_key) {
    table::ParsedKey parsed;
    if (!table::ParseInternalKey(internal_key, &parsed)) [[unlikely]] {
      has_user_key_ = false;
      unparsed_++;
      return false;
    }
    const uint64_t trailer = table::Trailer(internal_key);
    const bool newer_seen = IsSameUserKey(parsed.user_key);
    if (newer_seen && (trailer == trailer_ || trailer == deletion_trailer_)) return true;
    const bool hidden = newer_seen && (trailer_ >> 8) <= job_.oldest_snapshot;
    trailer_ = trailer;
    deletion_trailer_ = trailer;
    if (!newer_seen) Remember(parsed.user_key);
    if (hidden) return true;
    return parsed.type == table::ValueType::kDeletion && parsed.sequence <= job_.oldest_snapshot &&
           !DeeperMayHold(parsed.user_key);
  }

  // Malformed keys so far.
  uint64_t unparsed() const { return unparsed_; }

 private:
  bool IsSameUserKey(std::string_view user_key) const {
    if (!has_user_key_) return false;
    const std::string_view before = user_key_.From(0);
    if (!job_.comparator->is_bytewise()) return job_.comparator->CompareUser(before, user_key) == 0;
    return before.size() == user_key.size() &&
           table::SharedPrefix(before.data(), user_key.data(), before.size()) == before.size();
  }
  void Remember(std::string_view user_key) {
    user_key_.Clear();
    user_key_.Append(user_key);
    has_user_key_ = true;
  }
  bool DeeperMayHold(std::string_view user_key);

  const Job& job_;
  bool has_user_key_ = false;
  table::OutputBuffer user_key_;   // of the last entry
  uint64_t trailer_ = 0;           // of the last entry
  uint64_t deletion_trailer_ = 0;  // of the deletion that it became, otherwise the same
  uint64_t unparsed_ = 0;
  std::vector<size_t> next_deeper_;  // by deeper level: the first span that may hold later keys
};

}  // namespace weft::compaction
