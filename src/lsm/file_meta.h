// lsm/file_meta.h: a table as the versions know it.
//
// Threads   number, bytes, ends: constant. allowed_seeks and the pin: any thread.
//           being_compacted: under the store's mutex.
// Memory    shared by all versions that hold the table, also across a move to another level. The
//           file may be deleted once no live version has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "lsm/limits.h"

namespace weft::table {
class Table;
}  // namespace weft::table

namespace weft::lsm {

// Keeps a table open for as long as its FileMeta lives: lookups then reach it by one load. Set
// once, by the TableCache, which counts the pins.
class TablePin {
 public:
  TablePin() = default;
  TablePin(const TablePin&) = delete;
  TablePin& operator=(const TablePin&) = delete;
  ~TablePin() {
    if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_relaxed);
  }

  // Null: not pinned.
  const table::Table* get() const { return open_.load(std::memory_order_acquire); }
  // REQUIRES: get() != nullptr
  const std::shared_ptr<const table::Table>& shared() const { return table_; }

  // REQUIRES: get() == nullptr, and no other call of Set at the same time
  void Set(std::shared_ptr<const table::Table> table, std::shared_ptr<std::atomic<size_t>> count) {
    table_ = std::move(table);
    count_ = std::move(count);
    // Pairs with get(): who sees the pointer sees the fields above.
    open_.store(table_.get(), std::memory_order_release);
  }

 private:
  std::atomic<const table::Table*> open_{nullptr};
  std::shared_ptr<const table::Table> table_;
  std::shared_ptr<std::atomic<size_t>> count_;
};

struct FileMeta {
  FileMeta(uint64_t number_of_file, uint64_t file_bytes, std::string smallest_key,
           std::string largest_key)
      : number(number_of_file),
        bytes(file_bytes),
        smallest(std::move(smallest_key)),
        largest(std::move(largest_key)),
        allowed_seeks(SeeksAllowed(file_bytes)) {}

  const uint64_t number;
  const uint64_t bytes;
  const std::string smallest;  // internal keys
  const std::string largest;
  // Lookups that may yet pass through it in vain before compacting it is cheaper.
  mutable std::atomic<int64_t> allowed_seeks;
  mutable bool being_compacted = false;
  mutable TablePin pin;
};

using FileRef = std::shared_ptr<const FileMeta>;

}  // namespace weft::lsm
