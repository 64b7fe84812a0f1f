// bench/meter/nvml.h: the calls of NVIDIA's management library that meters use, found where the
// driver is installed, or given by a test.
//
// Units     as the library's: milliwatts, millijoules, bytes, percent.
// Errors    kUnsupported, with the reason, if there is no driver. The calls give 0 for success.
// Threads   any.
// Source    NVML's reference; its header, which not every machine with the library has.
#pragma once

#include "weft/status.h"

namespace weft::bench {

struct NvmlUtilization {
  unsigned int gpu;  // percent of the last sample period in which a kernel ran
  unsigned int memory;
};
struct NvmlMemory {
  unsigned long long total, free, used;
};

struct Nvml {
  int (*init)();
  int (*device)(unsigned int number, void** device);
  int (*name)(void* device, char* name, unsigned int bytes);
  int (*utilization)(void* device, NvmlUtilization*);
  int (*memory)(void* device, NvmlMemory*);
  int (*energy)(void* device, unsigned long long* millijoules);  // since the driver was loaded
  int (*power)(void* device, unsigned int* milliwatts);

  // Loaded once; it stays as long as the program runs.
  static Result<const Nvml*> Load();
};

}  // namespace weft::bench
