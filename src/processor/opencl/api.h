// processor/opencl/api.h: OpenCL's own headers, at the version that the processor is written for.
//
// Drivers of any version may be met: a call or query that is newer than the driver is an error of
// that call. Handle lets go of an OpenCL object when it ends.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <utility>

namespace weft::processor::opencl {

template <typename T, cl_int (*Release)(T)>
class Handle {
 public:
  explicit Handle(T object = nullptr) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  // Releasing fails only for what is no such object.
  ~Handle() {
    if (object_ != nullptr) Release(object_);
  }

  T get() const { return object_; }

 private:
  T object_;
};

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Event = Handle<cl_event, clReleaseEvent>;

}  // namespace weft::processor::opencl
