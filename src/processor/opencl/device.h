// processor/opencl/device.h: the OpenCL devices of this machine, and which of them can run Weft.
//
// A device must have: fine-grained shared virtual memory with atomics (its memory is the store's
// own, coupled); 64-bit atomics (a slot is 64 bits); OpenCL C's atomics in sequential order over
// host and device; work groups of a set's size; 64-bit little-endian addresses; a compiler.
// Otherwise it is listed with what it lacks.
//
// Threads   any.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "processor/device_info.h"
#include "processor/opencl/api.h"

namespace weft::processor::opencl {

// The facts from a driver that decide whether a device can be used.
struct Facts {
  bool is_available = false;
  bool has_compiler = false;
  bool is_little_endian = false;
  bool is_cpu = false;
  uint32_t address_bits = 0;
  uint64_t group_items_max = 0;  // of a work group
  cl_device_svm_capabilities shared_memory = 0;
  std::string extensions;
  std::string language;                // "OpenCL C 1.2 ...", from drivers of any version
  std::set<uint32_t> language_majors;  // of OpenCL C; from drivers of 3.0
  std::set<std::string> features;      // "__opencl_c_...", of OpenCL C 3.0
};

// Why the device cannot run Weft; empty: it can.
std::string Lack(const Facts& facts);
// The language for which its compiler takes the tasks (task/portable.h); empty: none has the
// atomics that they need.
std::string BuildOptions(const Facts& facts);

struct Device {
  cl_device_id id = nullptr;
  DeviceInfo info;
  std::string build_options;  // that its compiler needs for the tasks
};

// All devices of all platforms, in the order of the system's lists; the N of opencl:N counts them.
std::vector<Device> FindDevices();

}  // namespace weft::processor::opencl
