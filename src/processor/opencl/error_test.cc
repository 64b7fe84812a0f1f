// OpenCL's errors by name, and what becomes of them.
#include "processor/opencl/error.h"

#include <gtest/gtest.h>

namespace weft::processor::opencl {
namespace {

TEST(OpenClError, HasItsName) {
  EXPECT_EQ(ErrorName(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(ErrorName(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS (-52)");
  EXPECT_EQ(ErrorName(-9999), "OpenCL error -9999");
}

TEST(OpenClError, SaysWhatToDoNext) {
  EXPECT_EQ(ErrorStatus(CL_MEM_OBJECT_ALLOCATION_FAILURE, "x").code(), Code::kNoMemory);
  EXPECT_EQ(ErrorStatus(CL_OUT_OF_HOST_MEMORY, "x").code(), Code::kNoMemory);
  EXPECT_EQ(ErrorStatus(CL_DEVICE_NOT_AVAILABLE, "x").code(), Code::kDeviceLost);
  EXPECT_EQ(ErrorStatus(CL_INVALID_COMMAND_QUEUE, "x").code(), Code::kDeviceLost);
  EXPECT_EQ(ErrorStatus(CL_BUILD_PROGRAM_FAILURE, "x").code(), Code::kUnsupported);
  EXPECT_EQ(ErrorStatus(CL_INVALID_KERNEL, "x").code(), Code::kIoError);
  EXPECT_EQ(ErrorStatus(-9999, "x").code(), Code::kIoError);
  EXPECT_EQ(ErrorStatus(CL_INVALID_KERNEL, "opencl:3: submit a job").ToString(),
            "i/o error: opencl:3: submit a job: CL_INVALID_KERNEL (-48)");
}

TEST(OpenClError, OfACommandThatRanMeansALostDevice) {
  for (const cl_int code : {CL_OUT_OF_RESOURCES, CL_INVALID_VALUE, -9999}) {
    EXPECT_EQ(ExecutionStatus(code, "x").code(), Code::kDeviceLost);
    EXPECT_EQ(ExecutionStatus(code, "x").message(), "x: " + ErrorName(code));
  }
}

}  // namespace
}  // namespace weft::processor::opencl
