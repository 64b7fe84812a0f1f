// compaction/output_files.h: the files of a job's outputs, one after the other, whoever makes their
// bytes.
//
// Threads   one thread at a time.
// Errors    those of the file system, and what reading a table back finds. RemoveAll then takes
// away
//           all files that were begun.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "compaction/job.h"

namespace weft::compaction {

class OutputFiles {
 public:
  // What is given must outlive this.
  OutputFiles(const Job& job, const JobHost& host) : job_(job), host_(host) {}

  // The open table's file; null where none is open.
  WritableFile* file() const { return file_.get(); }
  // Begins a table. REQUIRES: none is open
  Status Begin(std::string_view smallest);
  // Ends the open table: synced, closed, and read back where the job says so. `written`: whether
  // its bytes are all there. REQUIRES: one is open
  Status End(Status written, std::string_view largest, uint64_t entries, uint64_t bytes);
  // Gives up: closes and removes every file that was begun.
  void RemoveAll();

  std::vector<OutputTable> TakeTables() { return std::move(tables_); }
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t verify_us() const { return verify_us_; }

 private:
  Status Verify();

  const Job& job_;
  const JobHost& host_;
  std::unique_ptr<WritableFile> file_;
  std::vector<OutputTable> tables_;  // the last one is the open one
  uint64_t bytes_written_ = 0;
  uint64_t verify_us_ = 0;
};

}  // namespace weft::compaction
