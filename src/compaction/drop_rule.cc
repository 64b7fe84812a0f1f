#include "compaction/drop_rule.h"

#include "base/coding.h"

namespace weft::compaction {
namespace {

// Of any offset: a sum could wrap around.
bool HoldsNumberAt(std::string_view value, size_t offset) {
  return value.size() >= sizeof(uint32_t) && offset <= value.size() - sizeof(uint32_t);
}

}  // namespace

bool DropRule::HasEnded(const LifetimeRule& rule, std::string_view internal_key,
                        std::string_view value) {
  table::ParsedKey parsed;
  if (!HoldsNumberAt(value, rule.expiry_offset) || !HoldsNumberAt(value, rule.generation_offset) ||
      !table::ParseInternalKey(internal_key, &parsed) || parsed.type != table::ValueType::kValue) {
    return false;
  }
  const uint32_t expiry = base::DecodeFixed32(value.data() + rule.expiry_offset);
  const uint32_t generation = base::DecodeFixed32(value.data() + rule.generation_offset);
  return (expiry != 0 && expiry <= rule.now_s) || generation < rule.generation_floor;
}

bool DropRule::DropsEnded(std::string_view internal_key, std::string* deletion) {
  table::ParsedKey parsed;
  if (!table::ParseInternalKey(internal_key, &parsed)) return false;
  if (parsed.sequence <= job_.oldest_snapshot && !DeeperMayHold(parsed.user_key)) return true;
  *deletion = table::MakeInternalKey(parsed.user_key, parsed.sequence, table::ValueType::kDeletion);
  deletion_trailer_ = table::Trailer(*deletion);
  return false;
}

// Keys come in order, so that each level's spans are passed once.
bool DropRule::DeeperMayHold(std::string_view user_key) {
  for (size_t level = 0; level < job_.deeper.size(); level++) {
    const std::vector<UserKeySpan>& spans = job_.deeper[level];
    size_t& next = next_deeper_[level];
    while (next < spans.size() && job_.comparator->CompareUser(user_key, spans[next].largest) > 0) {
      next++;
    }
    if (next < spans.size() && job_.comparator->CompareUser(user_key, spans[next].smallest) >= 0) {
      return true;
    }
  }
  return false;
}

}  // namespace weft::compaction
