#include "compaction/drop_rule.h"

namespace weft::compaction {

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
