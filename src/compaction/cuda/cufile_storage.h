// compaction/cuda/cufile_storage.h: files read into a CUDA device's memory, and written from there,
// by cuFile, the library of GPUDirect Storage. It is loaded where it is installed; nothing of it is
// needed to build.
//
// WEFT_CUFILE   off: never. on: wherever the library is, also in its compatibility mode, where it
//               goes through the host's memory, as we do without it. Else where the kernel module
//               nvidia-fs is loaded, so that disks may send to the device.
//
// Threads   as compaction/device/device_storage.h says.
// Source    NVIDIA GPUDirect Storage, cuFile API Reference Guide.
#pragma once

#include <memory>

#include "compaction/device/device_storage.h"

namespace weft::compaction::device {

// Of device `number`; null where it is not to be used, or the library has none for it.
std::unique_ptr<DeviceStorage> NewCufileStorage(int number);

}  // namespace weft::compaction::device
