// processor/cuda_devices.h: the CUDA devices of this machine, by the module that knows CUDA.
//
// libweft_cuda.so is loaded when first asked for, from $WEFT_CUDA_MODULE where that is set, else
// from where the system looks for libraries of this program: beside it, and in ../lib from there.
// It needs no driver to be loaded; it lists no device then.
//
// Threads   any.
#pragma once

#include <memory>
#include <vector>

#include "processor/device_info.h"
#include "processor/processor.h"
#include "weft/status.h"

namespace weft::processor {

// Where there is an NVIDIA driver but no module: one entry, which says so.
std::vector<DeviceInfo> ListCuda();

// A processor on device `number`, which mirrors the store that it is attached to.
// kUnsupported: there is no module, one of another version, or no such device.
Result<std::unique_ptr<Processor>> OpenCuda(uint32_t number);

}  // namespace weft::processor
