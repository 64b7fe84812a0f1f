// bench/durable/merge.h: one compaction by each of those that can, timed.
//
// Errors    a result with another number of entries than was written is none: kCorruption.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/flat_file_system.h"
#include "bench/durable/merge_input.h"
#include "bench/durable/store.h"
#include "bench/harness/process.h"

namespace weft::bench {

struct MergeTiming {
  double input_mib = 0;
  double wall_s = 0;
  CpuSeconds cpu;                 // of the process
  compaction::PhaseTimes phases;  // ours, of a device
  double direct_mib = 0;          // that the device read and wrote by itself
  double PerSecond() const { return input_mib / wall_s; }
};

// An input's tables in memory that an executor takes them from fastest: pinned, for a GPU's. What
// is made of them goes there, too.
class InputInMemory {
 public:
  // device: as DbOptions::compaction_device. Tables have about table_bytes.
  static Result<std::unique_ptr<InputInMemory>> Load(const MergeInput& input,
                                                     const std::string& device,
                                                     uint64_t table_bytes);
  base::FlatFileSystem* files() { return &files_; }

 private:
  InputInMemory(base::BufferMemory* memory, uint64_t file_bytes_max)
      : files_(memory, file_bytes_max) {}

  base::FlatFileSystem files_;
};

struct MergeSettings {
  StoreSettings store;
  bool verify_outputs = true;
  int threads = 1;  // the job is divided among so many, but where a device wants it whole
  std::string device = "cpu";       // as DbOptions::compaction_device
  InputInMemory* memory = nullptr;  // null: tables are read from their files
  bool direct = false;              // those, past the page cache
};

// Our executor on `input`, outputs to `dir`, which goes again. kUnsupported: the device is not
// there, or left the job to the CPU.
Result<MergeTiming> MergeOurs(const MergeInput& input, const MergeSettings& settings,
                              const std::string& dir, uint64_t entries_expected);

// Whether the tables can be read past the page cache.
bool HasDirectIo(const MergeInput& input);

// No compaction, but what a plain copy has of the same disk: reads the tables past the page cache,
// as many at once as there are threads, and writes the same bytes to `dir`, which goes again.
// REQUIRES: HasDirectIo
Result<MergeTiming> CopyDirect(const MergeInput& input, int threads, const std::string& dir);

// A store's own compaction of all that is in `dir`; the input is what the store says that it read.
Result<MergeTiming> MergeInStore(const std::string& name, const StoreSettings& settings,
                                 const std::string& dir);

}  // namespace weft::bench
