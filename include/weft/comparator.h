// weft/comparator.h: the order of keys in a durable store.
//
// The order is part of the store's format: its name is kept in the manifest, and a store opens only
// with a comparator of that name. Change the name when you change the order.
//
// Threads   any thread may make any call at any time.
// Source    the contract is LevelDB's, so that stores can be exchanged.
#pragma once

#include <string>
#include <string_view>

namespace weft {

class Comparator {
 public:
  virtual ~Comparator() = default;

  // Below 0, 0 or above 0 if a comes before, equals, or comes after b. A total order.
  virtual int Compare(std::string_view a, std::string_view b) const = 0;

  // Kept in the store. Names that begin with "leveldb." or "weft." are reserved.
  virtual const char* Name() const = 0;

  // Shortens *start to a key in [*start, limit), if there is a shorter one; may leave it as it is.
  // Keeps index blocks small. REQUIRES: *start < limit
  virtual void FindShortestSeparator(std::string* start, std::string_view limit) const = 0;

  // Shortens *key to a key that is not below it; may leave it as it is.
  virtual void FindShortSuccessor(std::string* key) const = 0;
};

// Lexicographic order of unsigned bytes, a prefix first: "leveldb.BytewiseComparator". Lives
// forever.
const Comparator* BytewiseComparator();

}  // namespace weft
