#include "weft/comparator.h"

#include <algorithm>
#include <cstdint>

namespace weft {

namespace {

class Bytewise final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override { return a.compare(b); }

  const char* Name() const override { return "leveldb.BytewiseComparator"; }

  void FindShortestSeparator(std::string* start, std::string_view limit) const override {
    const size_t common_max = std::min(start->size(), limit.size());
    size_t at = 0;
    while (at < common_max && (*start)[at] == limit[at]) at++;
    if (at == common_max) return;  // one is a prefix of the other
    const auto byte = static_cast<uint8_t>((*start)[at]);
    if (byte == 0xff || byte + 1 >= static_cast<uint8_t>(limit[at])) return;
    (*start)[at] = static_cast<char>(byte + 1);
    start->resize(at + 1);
  }

  void FindShortSuccessor(std::string* key) const override {
    for (size_t at = 0; at < key->size(); at++) {
      const auto byte = static_cast<uint8_t>((*key)[at]);
      if (byte == 0xff) continue;
      (*key)[at] = static_cast<char>(byte + 1);
      key->resize(at + 1);
      return;
    }
  }
};

}  // namespace

const Comparator* BytewiseComparator() {
  static const Comparator* const comparator = new Bytewise;  // never freed: lives for ever
  return comparator;
}

}  // namespace weft
