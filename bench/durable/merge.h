// bench/durable/merge.h: times one compaction, by our executors and by the stores.
//
// Errors    kCorruption: the result has more or fewer entries than were written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/flat_file_system.h"
#include "bench/durable/merge_input.h"
#include "bench/harness/process.h"
#include "bench/store/store.h"

namespace weft::bench {

struct MergeTiming {
  double input_mib = 0;
  double wall_s = 0;
  CpuSeconds cpu;                 // of the process
  compaction::PhaseTimes phases;  // ours, of a device
  double direct_mib = 0;          // that the device read and wrote by itself
  double PerSecond() const { return input_mib / wall_s; }
};

// An input's tables in the memory from which an executor takes them fastest: pinned, for a GPU's.
// Its outputs go there, too.
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
  int threads = 1;  // so many share the job, unless a device can only take the job as a whole
  std::string device = "cpu";       // as DbOptions::compaction_device
  InputInMemory* memory = nullptr;  // null: tables are read from their files
  bool direct = false;              // the files bypass the page cache
};

// Runs our executor on `input`, with outputs to `dir`, which is removed again. kUnsupported: the
// device is missing, or left the job to the CPU.
Result<MergeTiming> MergeOurs(const MergeInput& input, const MergeSettings& settings,
                              const std::string& dir, uint64_t entries_expected);

// Whether the tables can be read past the page cache.
bool HasDirectIo(const MergeInput& input);

// Not a compaction, but a plain copy, for what the same disk can do. It reads the tables past the
// page cache, as many at once as there are threads. It writes the same bytes to `dir`, which is
// removed again. REQUIRES: HasDirectIo
Result<MergeTiming> CopyDirect(const MergeInput& input, int threads, const std::string& dir);

// A store's own compaction of everything in `dir`; the input is what the store reports it read.
Result<MergeTiming> MergeInStore(const std::string& name, const StoreSettings& settings,
                                 const std::string& dir);

}  // namespace weft::bench
