// lsm/memtable_test_kit.h: what tests of memtables and of iterators over them share: an order of
// the user's keys that is not that of their bytes, and maps in any such order.
//
// Threads   any.
#pragma once

#include <string>
#include <string_view>

#include "weft/comparator.h"

namespace weft::lsm {

// Descending bytes.
class ReverseComparator final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
  const char* Name() const override { return "test.Reverse"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

struct UserLess {
  const Comparator* user;
  bool operator()(const std::string& a, const std::string& b) const {
    return user->Compare(a, b) < 0;
  }
};

}  // namespace weft::lsm
