// compaction/output_files.h: the files of a job's outputs, whoever makes their bytes.
//
// Threads   any: Begin one at a time; file and End at any time, each for tables of its own; the
//           rest once those have returned.
// Errors    those of the file system, and what reading a table back finds. RemoveAll then takes
//           away all files that were begun.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "compaction/job.h"

namespace weft::compaction {

class OutputFiles {
 public:
  // What is given must outlive this.
  OutputFiles(const Job& job, const JobHost& host) : job_(job), host_(host) {}

  // Begins a table behind all others. Returns its number, from 0 on.
  Result<size_t> Begin(std::string_view smallest) WEFT_EXCLUDES(mutex_);
  // REQUIRES: it was begun, and has not ended
  WritableFile* file(size_t table) WEFT_EXCLUDES(mutex_) { return Find(table).file.get(); }
  // Ends it: synced, closed, and read back where the job says so. `written`: whether its bytes are
  // all there. REQUIRES: as of file
  Status End(size_t table, Status written, std::string_view largest, uint64_t entries,
             uint64_t bytes) WEFT_EXCLUDES(mutex_);
  // Gives up: closes and removes every file that was begun.
  void RemoveAll() WEFT_EXCLUDES(mutex_);

  // In their order. REQUIRES: all have ended
  std::vector<OutputTable> TakeTables() WEFT_EXCLUDES(mutex_);
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t verify_us() const { return verify_us_; }  // of all threads together

 private:
  struct Output {
    OutputTable table;
    std::unique_ptr<WritableFile> file;  // null: it has ended
  };

  Output& Find(size_t table) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    return outputs_[table];
  }
  Status Verify(const OutputTable& table);

  const Job& job_;
  const JobHost& host_;
  base::Mutex mutex_;                                   // of the list, not of what is in it
  std::deque<Output> outputs_ WEFT_GUARDED_BY(mutex_);  // each stays where it is
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<uint64_t> verify_us_{0};
};

}  // namespace weft::compaction
