// weft/iterator.h: walks keys and values in order, both ways.
//
// Threads   one thread at a time per iterator; any number of iterators at once.
// Lifetime  key() and value() are valid until the next move. Delete iterators before their store.
#pragma once

#include <string_view>

#include "weft/status.h"

namespace weft {

class Iterator {
 public:
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  virtual ~Iterator() = default;

  // False at either end, after an error, and before the first Seek.
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the first key that is not below target.
  virtual void Seek(std::string_view target) = 0;
  // The four below REQUIRE Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  // What went wrong, if anything did. Check it when Valid() turns false: an error also ends it.
  virtual Status status() const = 0;
};

}  // namespace weft
