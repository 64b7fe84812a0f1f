#include "processor/opencl/error.h"

#include <algorithm>
#include <iterator>

namespace weft::processor::opencl {
namespace {

struct Known {
  cl_int code;
  const char* name;
  Code status;
};

#define WEFT_KNOWN(name, status) \
  { name, #name, Code::status }
constexpr Known kKnown[] = {
    WEFT_KNOWN(CL_DEVICE_NOT_FOUND, kDeviceLost),
    WEFT_KNOWN(CL_DEVICE_NOT_AVAILABLE, kDeviceLost),
    WEFT_KNOWN(CL_COMPILER_NOT_AVAILABLE, kUnsupported),
    WEFT_KNOWN(CL_MEM_OBJECT_ALLOCATION_FAILURE, kNoMemory),
    WEFT_KNOWN(CL_OUT_OF_RESOURCES, kNoMemory),
    WEFT_KNOWN(CL_OUT_OF_HOST_MEMORY, kNoMemory),
    WEFT_KNOWN(CL_BUILD_PROGRAM_FAILURE, kUnsupported),
    WEFT_KNOWN(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, kDeviceLost),
    WEFT_KNOWN(CL_COMPILE_PROGRAM_FAILURE, kUnsupported),
    WEFT_KNOWN(CL_LINKER_NOT_AVAILABLE, kUnsupported),
    WEFT_KNOWN(CL_LINK_PROGRAM_FAILURE, kUnsupported),
    WEFT_KNOWN(CL_INVALID_VALUE, kIoError),
    WEFT_KNOWN(CL_INVALID_DEVICE_TYPE, kIoError),
    WEFT_KNOWN(CL_INVALID_PLATFORM, kIoError),
    WEFT_KNOWN(CL_INVALID_DEVICE, kIoError),
    // These two were valid when they were made: drivers answer so once the device has failed.
    WEFT_KNOWN(CL_INVALID_CONTEXT, kDeviceLost),
    WEFT_KNOWN(CL_INVALID_COMMAND_QUEUE, kDeviceLost),
    WEFT_KNOWN(CL_INVALID_QUEUE_PROPERTIES, kUnsupported),
    WEFT_KNOWN(CL_INVALID_BUILD_OPTIONS, kUnsupported),
    WEFT_KNOWN(CL_INVALID_PROGRAM, kIoError),
    WEFT_KNOWN(CL_INVALID_PROGRAM_EXECUTABLE, kIoError),
    WEFT_KNOWN(CL_INVALID_KERNEL_NAME, kIoError),
    WEFT_KNOWN(CL_INVALID_KERNEL_DEFINITION, kIoError),
    WEFT_KNOWN(CL_INVALID_KERNEL, kIoError),
    WEFT_KNOWN(CL_INVALID_ARG_INDEX, kIoError),
    WEFT_KNOWN(CL_INVALID_ARG_VALUE, kIoError),
    WEFT_KNOWN(CL_INVALID_ARG_SIZE, kIoError),
    WEFT_KNOWN(CL_INVALID_KERNEL_ARGS, kIoError),
    WEFT_KNOWN(CL_INVALID_WORK_DIMENSION, kIoError),
    WEFT_KNOWN(CL_INVALID_WORK_GROUP_SIZE, kUnsupported),
    WEFT_KNOWN(CL_INVALID_WORK_ITEM_SIZE, kUnsupported),
    WEFT_KNOWN(CL_INVALID_GLOBAL_OFFSET, kIoError),
    WEFT_KNOWN(CL_INVALID_EVENT_WAIT_LIST, kIoError),
    WEFT_KNOWN(CL_INVALID_EVENT, kIoError),
    WEFT_KNOWN(CL_INVALID_OPERATION, kUnsupported),
    WEFT_KNOWN(CL_INVALID_BUFFER_SIZE, kNoMemory),
    WEFT_KNOWN(CL_INVALID_GLOBAL_WORK_SIZE, kIoError),
    WEFT_KNOWN(CL_INVALID_PROPERTY, kUnsupported),
    WEFT_KNOWN(CL_INVALID_COMPILER_OPTIONS, kUnsupported),
    WEFT_KNOWN(CL_PLATFORM_NOT_FOUND_KHR, kNotFound),
};
#undef WEFT_KNOWN

const Known* FindKnown(cl_int code) {
  const Known* const known =
      std::ranges::find_if(kKnown, [code](const Known& entry) { return entry.code == code; });
  return known == std::end(kKnown) ? nullptr : known;
}

}  // namespace

std::string ErrorName(cl_int code) {
  const Known* const known = FindKnown(code);
  if (known == nullptr) return "OpenCL error " + std::to_string(code);
  return std::string(known->name) + " (" + std::to_string(code) + ")";
}

Status ErrorStatus(cl_int code, std::string_view what) {
  const Known* const known = FindKnown(code);
  return Status(known == nullptr ? Code::kIoError : known->status,
                std::string(what) + ": " + ErrorName(code));
}

Status ExecutionStatus(cl_int code, std::string_view what) {
  return Status(Code::kDeviceLost, std::string(what) + ": " + ErrorName(code));
}

}  // namespace weft::processor::opencl
