// bench/device/options.h: the options of the benchmark of the table in device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/defaults.h"
#include "bench/harness/report.h"

namespace weft::bench {

struct DeviceOptions {
  uint64_t objects = defaults::kDeviceObjects;  // fewer if the device does not have the memory
  double load = defaults::kDeviceLoad;          // of the index's slots
  uint32_t batch = defaults::kDeviceBatch;      // queries of a launch
  uint32_t miss_permille = defaults::kDeviceMissPermille;  // of searches and reads
  std::vector<std::string> shapes;                         // empty: K8, K16, K32
  int device = 0;
  int repetitions = defaults::kRepetitions;
  uint64_t seed = defaults::kSeed;
};

// Times search, reads, stores, deletes and mixes on one GPU, nothing over the bus, each beside what
// the device's memory allows. kUnsupported: there is no device, or the build has no CUDA.
Status RunDevice(const DeviceOptions& options, Report& report);

}  // namespace weft::bench
