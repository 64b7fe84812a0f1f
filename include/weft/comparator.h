// weft/comparator.h: the order of keys in a durable store.
//
// The order is part of the store's format: its name is kept in the manifest, and a store opens only
// with a comparator of that name. Change the name when you change the order.
//
// Threads   every call may be made from any thread at once.
// Source    the contract is LevelDB's, so that stores are exchanged.
#pragma once

#include <string>
#include <string_view>

namespace weft {

class Comparator {
 public:
  virtual ~Comparator() = default;

  // Below 0, 0 or above 0 where a comes before, is, or comes after b. A total order.
  virtual int Compare(std::string_view a, std::string_view b) const = 0;

  // Kept in the store. Names that begin with "leveldb." and "weft." are taken.
  virtual const char* Name() const = 0;

  // Makes *start shorter where a shorter key lies in [*start, limit); may leave it as it is.
  // Keeps index blocks small. REQUIRES: *start < limit
  virtual void FindShortestSeparator(std::string* start, std::string_view limit) const = 0;

  // Makes *key a shorter key that is not below it; may leave it as it is.
  virtual void FindShortSuccessor(std::string* key) const = 0;
};

// Lexicographic order of unsigned bytes, a prefix first: "leveldb.BytewiseComparator". Lives for
// ever.
const Comparator* BytewiseComparator();

}  // namespace weft
