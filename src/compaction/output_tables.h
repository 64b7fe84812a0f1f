// compaction/output_tables.h: the tables that a job writes, one after the other.
//
// Threads   one thread at a time.
// Errors    the first one stays: Add and Finish return it from then on. RemoveAll then takes away
//           all files that were begun.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/job.h"
#include "table/table_builder.h"

namespace weft::compaction {

class OutputTables {
 public:
  // What is given must outlive this.
  OutputTables(const Job& job, const JobHost& host) : job_(job), host_(host) {}
  ~OutputTables();
  OutputTables(const OutputTables&) = delete;
  OutputTables& operator=(const OutputTables&) = delete;

  bool is_open() const { return file_ != nullptr; }
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

  std::vector<OutputTable> TakeTables() { return std::move(tables_); }
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t verify_us() const { return verify_us_; }

 private:
  Status Open(std::string_view first_key);
  Status Verify();

  const Job& job_;
  const JobHost& host_;
  std::unique_ptr<WritableFile> file_;  // of the open table
  std::optional<table::TableBuilder> builder_;
  std::vector<OutputTable> tables_;  // the last one is the open one
  uint64_t bytes_written_ = 0;
  uint64_t verify_us_ = 0;
};

}  // namespace weft::compaction
