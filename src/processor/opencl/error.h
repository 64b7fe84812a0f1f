// processor/opencl/error.h: the one place where an OpenCL error becomes a Status.
//
// Code      kDeviceLost    the device or what was made on it is gone, or a command on it failed:
//                          work on its way must be done elsewhere.
//           kNoMemory      host or device has not as much.
//           kUnsupported   the driver lacks what was asked for, or cannot compile it.
//           kIoError       anything else: the message names it.
// Threads   pure.
#pragma once

#include <string>
#include <string_view>

#include "processor/opencl/api.h"
#include "weft/status.h"

namespace weft::processor::opencl {

// "CL_OUT_OF_RESOURCES (-5)"; of a code that no standard names: "OpenCL error -9999".
std::string ErrorName(cl_int code);

// Of a call that failed. `what`: what was being done, "opencl:0: start a job".
// REQUIRES: code != CL_SUCCESS
Status ErrorStatus(cl_int code, std::string_view what);

// Of a command that was taken and then ended with `code`, a negative execution status. Whatever the
// code, the command may have been done in part.
Status ExecutionStatus(cl_int code, std::string_view what);

}  // namespace weft::processor::opencl
