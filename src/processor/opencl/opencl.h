// processor/opencl/opencl.h: the tasks on an OpenCL device that shares the process's memory.
//
// Coupled memory through fine-grained shared virtual memory with atomics, as an APU has it, or a
// CPU driver. A query is a work item, a set a work group. Jobs run one after the other, in the
// order they were started; up to kInFlightMax are with the driver, the rest wait here.
//
// Order     a job sees what the host wrote before Start, and the host sees the job's writes once it
//           is done: handing a kernel to its queue and waiting for its event synchronise (OpenCL
//           3.0, section 3.3.6). In between the tasks' atomics are what counts, task/portable.h.
// Errors    error.h. Threads: any; the owner ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "processor/device_info.h"
#include "processor/processor.h"

namespace weft::processor {

// All OpenCL devices, opencl:0 on.
std::vector<DeviceInfo> ListOpenCl();

struct OpenClOptions {
  // For tests: asked before a call of this name is made; anything but 0 is taken for the call's
  // error. Of "clSVMAlloc", "clEnqueueNDRangeKernel", "clGetEventInfo", and "clWaitForEvents",
  // where the job runs nevertheless. Any thread.
  std::function<int(const char* call)> inject;
};

// Opens opencl:N; its end waits for the jobs that it has taken. kNotFound: there is no such device.
// kUnsupported: it cannot run the tasks, and why.
Result<std::unique_ptr<Processor>> OpenOpenCl(uint32_t number, const OpenClOptions& options = {});

}  // namespace weft::processor
