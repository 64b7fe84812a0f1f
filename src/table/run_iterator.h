// table/run_iterator.h: the tables of one sorted run as one iterator, each opened when it is
// reached.
//
// A run: tables in order of their keys that overlap in no key, as a level below 0 has them.
//
// Threads   one at a time.
// Errors    a table that does not open, and any error within one, ends the iterator.
// Cost      within a table that of its own iterator, without a further virtual call.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "table/table.h"
#include "weft/iterator.h"

namespace weft::table {

// Where a run's tables come from. Lives as long as the iterator.
class TableRun {
 public:
  virtual ~TableRun() = default;
  virtual size_t size() const = 0;
  // The largest key of table i. REQUIRES: i < size(). Lives as long as the run.
  virtual std::string_view LargestKey(size_t i) const = 0;
  // The table, which stays while the pointer is held.
  virtual Result<std::shared_ptr<const Table>> Open(size_t i) = 0;
};

std::unique_ptr<Iterator> NewRunIterator(const KeyOrder& order, const ReadOptions& options,
                                         std::unique_ptr<TableRun> run);

}  // namespace weft::table
