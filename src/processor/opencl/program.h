// processor/opencl/program.h: the tasks, compiled for one device.
//
// The text of src/task and kernel.cl lies in this library (embed.cmake); the driver compiles it
// when the device is opened, or takes it from a cache of its own.
//
// Errors    kUnsupported with the head of the compiler's log; the rest as error.h has it.
// Threads   one at a time.
#pragma once

#include <string>

#include "processor/opencl/api.h"
#include "processor/opencl/device.h"
#include "weft/status.h"

namespace weft::processor::opencl {

// The text of kernel.cl with all that it includes.
extern const char kKernelSource[];

struct Program {
  ProgramHandle program;
  Kernel run_job;       // RunJob
  Kernel describe_job;  // DescribeJob
};

Result<Program> BuildProgram(cl_context context, const Device& device);

// Runs DescribeJob: whether the device's compiler lays task::QueryJob out as the host's did. It
// writes to `scratch`, shared memory of at least kLayoutBytes.
inline constexpr size_t kLayoutBytes = 4096;
Status CheckLayout(const Program& program, cl_command_queue queue, uint8_t* scratch);

}  // namespace weft::processor::opencl
