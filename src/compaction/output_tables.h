// compaction/output_tables.h: the tables that a job writes, one after the other, entry by entry.
//
// Threads   one thread at a time.
// Errors    the first one stays: Add and Finish return it from then on. RemoveAll then takes away
//           all files that were begun.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compaction/job.h"
#include "compaction/output_files.h"
#include "table/table_builder.h"

namespace weft::compaction {

class OutputTables {
 public:
  // What is given must outlive this.
  OutputTables(const Job& job, const JobHost& host) : job_(job), files_(job, host) {}
  ~OutputTables();
  OutputTables(const OutputTables&) = delete;
  OutputTables& operator=(const OutputTables&) = delete;

  bool is_open() const { return open_.has_value(); }
  // Adds an entry, to a new table where none is open; ends the table with the block that reaches
  // the job's size.
  Status Add(std::string_view key, std::string_view value) {
    if (!is_open()) {
      Status status = Open(key);
      if (!status.ok()) return status;
    }
    builder_->Add(key, value);
    if (builder_->flushed_bytes() >= job_.output_bytes_max) [[unlikely]]
      return Finish();
    return builder_->status();
  }
  // Ends the open table, if any: written, synced, closed, and read back where the job says so.
  Status Finish();
  // Gives up: closes and removes every file that was begun.
  void RemoveAll();

  std::vector<OutputTable> TakeTables() { return files_.TakeTables(); }
  uint64_t bytes_written() const { return files_.bytes_written(); }
  uint64_t verify_us() const { return files_.verify_us(); }

 private:
  Status Open(std::string_view first_key);

  const Job& job_;
  OutputFiles files_;
  std::optional<size_t> open_;  // of files_
  std::optional<table::TableBuilder> builder_;
};

}  // namespace weft::compaction
