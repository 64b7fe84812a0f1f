// sim/cache/tag_array.h: which lines a set-associative cache has, what else it knows of each, and
// which line of a set was used least recently.
//
// Units     lines, by number.
// Threads   one owner.
// Cost      a question looks at the tags of one set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::sim {

template <typename Entry>
class TagArray {
 public:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr uint64_t kNoLine = UINT64_MAX;

  TagArray(size_t sets, size_t ways)
      : ways_(ways), lines_(sets * ways, kNoLine), used_(sets * ways), entries_(sets * ways) {}

  size_t ways() const { return ways_; }
  size_t size() const { return lines_.size(); }

  // Where `line` is in `set`, or kNone.
  size_t Find(size_t set, uint64_t line) const {
    size_t found = kNone;
    // To the end, so that several are compared at once.
    for (size_t at = set * ways_; at < (set + 1) * ways_; ++at) {
      found = lines_[at] == line ? at : found;
    }
    return found;
  }
  // The first empty place of the set, or that of the least recently used line.
  size_t Victim(size_t set) const {
    const auto first = used_.begin() + static_cast<ptrdiff_t>(set * ways_);
    return static_cast<size_t>(std::min_element(first, first + static_cast<ptrdiff_t>(ways_)) -
                               used_.begin());
  }
  void Touch(size_t at) { used_[at] = ++clock_; }
  // `line` takes the place, most recently used.
  Entry& Put(size_t at, uint64_t line, const Entry& entry) {
    lines_[at] = line;
    Touch(at);
    return entries_[at] = entry;
  }
  void Remove(size_t at) {
    lines_[at] = kNoLine;
    used_[at] = 0;
  }
  // Takes over the lines of `other`, used in the same order; entries are as they were.
  // REQUIRES: as many sets and ways
  template <typename Other>
  void TakeLinesOf(const TagArray<Other>& other) {
    lines_ = other.lines_;
    used_ = other.used_;
    clock_ = other.clock_;
  }

  // kNoLine if the place is empty.
  uint64_t LineAt(size_t at) const { return lines_[at]; }
  Entry& operator[](size_t at) { return entries_[at]; }
  const Entry& operator[](size_t at) const { return entries_[at]; }

 private:
  template <typename Other>
  friend class TagArray;

  size_t ways_;
  std::vector<uint64_t> lines_;
  std::vector<uint64_t> used_;  // when, in accesses; 0: empty
  std::vector<Entry> entries_;
  uint64_t clock_ = 0;
};

}  // namespace weft::sim
