#include "compaction/key_prefix.h"

#include <algorithm>

namespace weft::compaction {

KeyPrefix::KeyPrefix(const Job& job) {
  const JobTable* first = nullptr;
  const JobTable* last = nullptr;
  for (const auto& run : job.runs) {
    for (const JobTable& table : run) {
      if (first == nullptr ||
          table::InternalBytewiseOrder{}.Compare(table.smallest, first->smallest) < 0) {
        first = &table;
      }
      if (last == nullptr ||
          table::InternalBytewiseOrder{}.Compare(table.largest, last->largest) > 0) {
        last = &table;
      }
    }
  }
  // The smallest of all is also the one that may lack a trailer.
  if (first == nullptr || first->smallest.size() < table::kTrailerBytes) return;
  if (last->largest.size() < table::kTrailerBytes) return;
  const std::string_view smallest = table::UserKey(first->smallest);
  const std::string_view largest = table::UserKey(last->largest);
  common_ = smallest.substr(0, table::SharedPrefix(smallest.data(), largest.data(),
                                                   std::min(smallest.size(), largest.size())));
}

}  // namespace weft::compaction
