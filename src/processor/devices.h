// processor/devices.h: every processor of this machine, by the name that plans give it.
//
//   none       no device: all stages run on the workers' own threads
//   cpu        the tasks on their own thread (cpu_processor.h)
//   mirror     the same on a copy of the store, as a discrete GPU has it (plain_mirror.h)
//   cuda:N     the N-th CUDA device, if its module is there (cuda_devices.h)
//   opencl:N   the N-th OpenCL device that shares memory, if built in (opencl/opencl.h)
//   auto       the first GPU that can be used and passes its test, otherwise none
//
// Every device returned has just passed its test of known answers (self_test.h).
//
// Threads   any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "processor/device_info.h"
#include "processor/processor.h"
#include "weft/status.h"

namespace weft::processor {

// All of them, cpu first; those that cannot be used have the reason. Opens none.
std::vector<DeviceInfo> ListDevices();

// Opens the processor of just this name ("cpu", "opencl:0") without a test.
// kNotFound: there is none. kUnsupported: it cannot be used.
Result<std::unique_ptr<Processor>> OpenNamed(std::string_view name);

// Asks an open processor for the known answers of its kind.
Status RunSelfTest(Processor* processor);

// The processor that `spec` asks for, tested; null for "none", and for "auto" if there is none.
// *notes (may be null): a line for each device that "auto" passed over, and why. kInvalidArgument:
// there is no such device; the message lists those that exist.
Result<std::unique_ptr<Processor>> OpenDevice(std::string_view spec,
                                              std::vector<std::string>* notes = nullptr);

}  // namespace weft::processor
