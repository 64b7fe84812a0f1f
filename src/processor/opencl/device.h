// processor/opencl/device.h: the OpenCL devices of this machine, and which of them can run Weft.
//
// What a device must have, and is listed with the lack of: fine-grained shared virtual memory with
// atomics (its memory is the store's own, coupled), 64-bit atomics (a slot is 64 bits), OpenCL C's
// atomics in sequential order over host and device, work groups of a set's size, 64-bit
// little-endian addresses, a compiler.
//
// Threads   any.
#pragma once

#include <string>
#include <vector>

#include "processor/device_info.h"
#include "processor/opencl/api.h"

namespace weft::processor::opencl {

struct Device {
  cl_device_id id = nullptr;
  DeviceInfo info;
  std::string build_options;  // that its compiler needs for the tasks
};

// All devices of all platforms, in the order of the system's lists; the N of opencl:N counts them.
std::vector<Device> FindDevices();

}  // namespace weft::processor::opencl
