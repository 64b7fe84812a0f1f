// tier/disk_files_test_kit.h: the file systems below a tier in tests.
#pragma once

#include <random>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"

namespace weft::tier {

struct DiskTestFiles {
  // Leaves what kill -9 leaves, or a power cut. `close` ends the store; what it then still writes
  // does not count.
  template <typename Close>
  void Crash(base::CrashKind kind, Close close) {
    const auto left = memory.Copy();
    faulty.FailFrom(1);
    close();
    memory.Restore(*left);
    std::mt19937_64 random(1);
    memory.Crash(&random, kind);
    faulty.Heal();
  }

  base::MemoryFileSystem memory;
  base::FaultyFileSystem faulty{&memory};
};

}  // namespace weft::tier
