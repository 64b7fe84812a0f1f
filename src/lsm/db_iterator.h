// lsm/db_iterator.h: a user's iterator: of all versions of a key it shows the one that counts.
//
// Walks an iterator over internal keys (memtables and tables merged) and shows each user key once:
// with its newest value not newer than `sequence`, or not at all if that is a deletion.
//
// Threads   one at a time.
// Errors    a malformed internal key, or any error of the iterator below, ends the walk; status()
//           is then kCorruption or that error. Values found before stay right.
// Cost      forwards a copy of the key and a comparison on top of the iterator below; backwards a
//           copy of the value as well. A seek passes many versions that don't count.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "table/internal_key.h"
#include "weft/iterator.h"

namespace weft::lsm {

struct DbIteratorOptions {
  table::SequenceNumber sequence = table::kSequenceMax;
  // Keys outside [lower_bound, upper_bound) are not there. Must live as long as the iterator.
  std::optional<std::string_view> lower_bound;
  std::optional<std::string_view> upper_bound;
  // Called about once for every MiB read, at random places, with the internal key there. Null:
  // never.
  std::function<void(std::string_view internal_key)> sample;
  // What the iterator below reads from; released after it.
  std::shared_ptr<const void> keep;
};

inline constexpr size_t kBytesPerReadSample = size_t{1} << 20;

std::unique_ptr<Iterator> NewDbIterator(const table::InternalComparator& comparator,
                                        std::unique_ptr<Iterator> internal,
                                        DbIteratorOptions options);

}  // namespace weft::lsm
