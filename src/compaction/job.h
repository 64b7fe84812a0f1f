// compaction/job.h: one compaction as data: tables in, finished tables out, no store in sight.
//
// An Executor takes a Job and a JobHost and gives a JobResult. Every executor writes the same bytes
// for the same job: the tests hold them to each other. A job that failed has left no file behind.
//
// Threads   Executor::Run: any at once, distinct jobs. JobHost's calls: any thread.
// Source    the rules of what is dropped and where outputs are cut are LevelDB's;
//           a job as data is paper 001 (LUDA), section 3.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer_memory.h"
#include "table/format.h"
#include "table/internal_key.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::compaction {

struct JobTable {
  uint64_t number = 0;
  uint64_t bytes = 0;
  std::string path;
  std::string smallest;  // internal keys
  std::string largest;
};

// Both ends included.
struct UserKeySpan {
  std::string smallest;
  std::string largest;
};

// Which values have ended: weft/db_options.h, ValueLifetime.
struct LifetimeRule {
  size_t expiry_offset = 0;
  size_t generation_offset = 0;
  uint32_t now_s = 0;
  uint32_t generation_floor = 0;
};

struct Job {
  FileSystem* files = nullptr;
  int level = 0;  // of the upper inputs, for the log
  int output_level = 1;

  // Sorted runs, newest first: within a run tables are in order and overlap in no user key. A table
  // of level 0 is a run of its own; the tables of a deeper level together are one.
  std::vector<std::vector<JobTable>> runs;
  // Only user keys in [first_user_key, end_user_key) are the job's; none: no bound. A job split by
  // range never divides a user key.
  std::optional<std::string> first_user_key;
  std::optional<std::string> end_user_key;
  bool is_part = false;  // of a job that SplitJob has divided among threads

  // Entries hidden by a newer one of their user key that is not above this are dropped.
  table::SequenceNumber oldest_snapshot = 0;
  // None: no value ends. An entry whose value has ended is as a deletion.
  std::optional<LifetimeRule> lifetime;
  // Tables of each level below the output level, in order: a deletion is dropped only where none of
  // them covers its key. All empty: the output is the bottommost.
  std::vector<std::vector<UserKeySpan>> deeper;
  // Tables of the level right below the output level, in order: an output ends before it overlaps
  // more than grandparent_overlap_bytes_max of them.
  std::vector<JobTable> grandparents;
  uint64_t grandparent_overlap_bytes_max = 0;

  const table::InternalComparator* comparator = nullptr;
  table::TableFormat format;             // of the outputs; its comparator is `comparator`
  uint64_t output_bytes_max = 2u << 20;  // an output ends with the block that reaches it
  bool verify_outputs = true;            // read back and check order, count and checksums
};

struct OutputTable {
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  std::string path;
  std::string smallest;  // internal keys
  std::string largest;
};

// What a job may ask of its surroundings while it runs.
struct JobHost {
  struct NewFile {
    uint64_t number;
    std::string path;
  };
  // A number and path for the next output. Asked for when the output is begun.
  std::function<NewFile()> new_output;
  // Called before `bytes` are written, and may wait: some hundred KiB by the CPU's executor, up to
  // a piece of the job by others. Null: no limit.
  std::function<void(uint64_t bytes)> before_write;
  // Called every thousand entries or so, once a piece by others than the CPU's executor, and may
  // wait: to leave the processor to what is more urgent. Null: never.
  std::function<void()> give_way;
  // True: give up soon, with kRetryLater. Null: never.
  const std::atomic<bool>* cancelled = nullptr;
  // That may read, write and check files for the job at once; the CPU's executor has one, whatever
  // this says.
  int threads = 1;
};

// Where a device's time went, in microseconds of wall time; 0 of the CPU's executor. Unpack, sort,
// pack and wait follow each other; the rest goes on beside them.
struct PhaseTimes {
  uint64_t load_us = 0;      // blocks from files into memory
  uint64_t upload_us = 0;    // from there to the device
  uint64_t wait_us = 0;      // the device for the host: for blocks, or for room for what it made
  uint64_t unpack_us = 0;    // checksums, and entries as columns
  uint64_t sort_us = 0;      // in order, without what is dropped
  uint64_t pack_us = 0;      // blocks, index entries, filters; compression by the host
  uint64_t download_us = 0;  // back to the host
  uint64_t write_us = 0;     // into files, which are synced and read back
};

struct JobResult {
  Status status;
  std::vector<OutputTable> outputs;  // in order; synced and closed; empty where status is not ok
  uint64_t bytes_read = 0;           // of files; a block twice where two pieces of a device have it
  uint64_t bytes_read_by_device = 0;  // of these, past the host's memory
  uint64_t bytes_written = 0;
  uint64_t bytes_written_by_device = 0;  // likewise
  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;
  uint64_t entries_ended = 0;     // by their lifetime: dropped or made deletions
  uint64_t entries_unparsed = 0;  // kept, though their keys are none of a store's
  uint64_t wall_us = 0;
  uint64_t cpu_us = 0;
  uint64_t verify_us = 0;  // reading outputs back, of all threads together
  PhaseTimes phases;
  const char* done_by = "cpu";  // the Name of the executor that wrote the outputs
  // Of another executor than the CPU's: why it left the job to that; else empty.
  std::string left_to_cpu;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual const char* Name() const = 0;  // "cpu"
  // Whether the job is better not divided among `threads`.
  virtual bool WantsWhole(const Job& job, int threads) const {
    return (void)job, (void)threads, false;
  }
  // Memory that lives as long and that it reads tables from, and writes them to, fastest: for file
  // systems that keep files in memory. Null: any.
  virtual base::BufferMemory* memory() { return nullptr; }
  // Checks the checksum of every block it reads. kCorruption names the table.
  virtual JobResult Run(const Job& job, const JobHost& host) = 0;
};

std::unique_ptr<Executor> NewCpuExecutor();

// How many parts a job that several threads share is best divided into for each of them: threads
// that were held up take fewer. More would only make smaller tables.
inline constexpr int kPartsPerThread = 2;

// Divides a job into at most `parts_max` jobs of disjoint ranges that together do the same work, in
// order. Fewer (one) where there is too little to divide; reads index blocks to find the middle.
Result<std::vector<Job>> SplitJob(const Job& job, int parts_max);

// Reads a finished table back: checksums of all blocks, strictly ascending keys, count and ends as
// `expected` says.
Status VerifyTable(const Job& job, const OutputTable& expected);

}  // namespace weft::compaction
