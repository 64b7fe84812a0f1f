#include "processor/opencl/program.h"

#include <cstddef>
#include <vector>

#include "processor/opencl/error.h"
#include "processor/opencl/job_layout.h"
#include "task/query_job.h"

namespace weft::processor::opencl {
namespace {

constexpr size_t kLogBytesMax = 2000;  // of the compiler's, in a message

std::string BuildLog(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
      CL_SUCCESS)
    return "";
  std::string log(bytes, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) !=
      CL_SUCCESS)
    return "";
  log.resize(std::min(log.find('\0'), kLogBytesMax));
  return log;
}

Result<Kernel> MakeKernel(cl_program program, const char* name, const std::string& device) {
  cl_int code = CL_SUCCESS;
  Kernel kernel(clCreateKernel(program, name, &code));
  if (code != CL_SUCCESS) return ErrorStatus(code, device + ": kernel " + name);
  return kernel;
}

struct Field {
  const char* name;
  size_t offset;
};

#define WEFT_FIELD(field) {#field, offsetof(task::QueryJob, field)},
constexpr Field kFields[] = {WEFT_JOB_FIELDS(WEFT_FIELD)};
#undef WEFT_FIELD
static_assert(sizeof(uint32_t) * (std::size(kFields) + 1) <= kLayoutBytes);

}  // namespace

Result<Program> BuildProgram(cl_context context, const Device& device) {
  const std::string& name = device.info.description.name;
  cl_int code = CL_SUCCESS;
  const char* source = kKernelSource;
  Program built;
  built.program = ProgramHandle(clCreateProgramWithSource(context, 1, &source, nullptr, &code));
  if (code != CL_SUCCESS) return ErrorStatus(code, name + ": pass the tasks to the compiler");
  const cl_program program = built.program.get();
  code = clBuildProgram(program, 1, &device.id, device.build_options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    return ErrorStatus(code, name + ": compile the tasks (" + device.build_options + ")\n" +
                                 BuildLog(program, device.id));
  }
  auto run = MakeKernel(program, "RunJob", name);
  if (!run) return run.error();
  auto describe = MakeKernel(program, "DescribeJob", name);
  if (!describe) return describe.error();
  built.run_job = std::move(*run);
  built.describe_job = std::move(*describe);

  size_t items = 0;
  code = clGetKernelWorkGroupInfo(built.run_job.get(), device.id, CL_KERNEL_WORK_GROUP_SIZE,
                                  sizeof items, &items, nullptr);
  if (code != CL_SUCCESS) return ErrorStatus(code, name + ": query the kernel's work group size");
  if (items < kSetQueries) {
    return Status(Code::kUnsupported, name + ": its work groups hold " + std::to_string(items) +
                                          " items of the kernel, but a set of queries needs " +
                                          std::to_string(kSetQueries));
  }
  return built;
}

Status CheckLayout(const Program& program, cl_command_queue queue, uint8_t* scratch) {
  const cl_kernel kernel = program.describe_job.get();
  cl_int code = clSetKernelArgSVMPointer(kernel, 0, scratch);
  if (code == CL_SUCCESS) code = clSetKernelArgSVMPointer(kernel, 1, scratch);
  const size_t one = 1;
  if (code == CL_SUCCESS)
    code = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  if (code == CL_SUCCESS) code = clFinish(queue);
  if (code != CL_SUCCESS) return ErrorStatus(code, "run a first kernel");

  const auto* const layout = reinterpret_cast<const uint32_t*>(scratch);
  if (layout[0] != sizeof(task::QueryJob)) {
    return Status(Code::kUnsupported, "its compiler makes a job " + std::to_string(layout[0]) +
                                          " bytes long, but the host's has " +
                                          std::to_string(sizeof(task::QueryJob)));
  }
  for (size_t i = 0; i < std::size(kFields); i++) {
    if (layout[i + 1] == kFields[i].offset) continue;
    return Status(Code::kUnsupported, std::string("its compiler puts a job's ") + kFields[i].name +
                                          " at byte " + std::to_string(layout[i + 1]) +
                                          ", but the host's is at " +
                                          std::to_string(kFields[i].offset));
  }
  return {};
}

}  // namespace weft::processor::opencl
