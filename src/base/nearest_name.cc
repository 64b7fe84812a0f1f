#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::base {
namespace {

constexpr size_t kNearest = 2;

// Edits that lead from one word to the other. Row by row: of the first letters of `from`, to each
// beginning of `to`.
size_t EditsBetween(std::string_view from, std::string_view to) {
  std::vector<size_t> before, above(to.size() + 1), row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[to.size()];
}

}  // namespace

std::string_view NearestName(std::string_view word, std::span<const std::string_view> names) {
  std::string_view nearest;
  size_t least = kNearest + 1;
  for (const std::string_view name : names) {
    const size_t longer = std::max(word.size(), name.size());
    if (longer > std::min(word.size(), name.size()) + kNearest) continue;  // however alike
    const size_t edits = EditsBetween(word, name);
    if (edits >= least || edits >= longer) continue;  // as many edits share no letter
    least = edits;
    nearest = name;
  }
  return nearest;
}

}  // namespace weft::base
