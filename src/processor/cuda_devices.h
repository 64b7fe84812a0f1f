// processor/cuda_devices.h: the CUDA devices of this machine, by the module that knows CUDA.
//
// libweft_cuda.so is loaded when first asked for, from $WEFT_CUDA_MODULE if that is set. Otherwise
// the system finds it where it looks for the program's libraries: beside the program, and in ../lib
// from there. It loads without a driver, but lists no device then.
//
// Threads   any.
#pragma once

#include <memory>
#include <vector>

#include "processor/device_info.h"
#include "processor/processor.h"
#include "weft/status.h"

namespace weft::processor {

// With an NVIDIA driver but without a module: one entry, which says so.
std::vector<DeviceInfo> ListCuda();

// A processor on device `number`, which mirrors the store that it is attached to.
// kUnsupported: there is no module, one of another version, or no such device.
Result<std::unique_ptr<Processor>> OpenCuda(uint32_t number);

}  // namespace weft::processor
