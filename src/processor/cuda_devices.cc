#include "processor/cuda_devices.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "processor/cuda/module.h"
#include "processor/mirrored_processor.h"

namespace weft::processor {
namespace {

constexpr const char* kModuleVariable = "WEFT_CUDA_MODULE";
constexpr const char* kModuleName = "libweft_cuda.so";
constexpr const char* kDriverFile = "/proc/driver/nvidia/version";

Result<const CudaModule*> Load(const std::string& path) {
  // Never closed: what it hands out may live as long as the program.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Status(Code::kUnsupported, "CUDA devices need the module " + path + ": " + dlerror());
  const auto module =
      reinterpret_cast<CudaModuleFunction>(dlsym(library, kCudaModuleSymbol));
  if (module == nullptr)
    return Status(Code::kUnsupported, path + " is not Weft's module for CUDA devices");
  if (!module()->Fits())
    return Status(Code::kUnsupported, path + " was built from another version of Weft");
  return module();
}

// Asked anew each time, so that a drill may name another one later: what is loaded stays so.
Result<const CudaModule*> Module() {
  const char* const named = std::getenv(kModuleVariable);
  return Load(named != nullptr ? named : kModuleName);
}

}  // namespace

std::vector<DeviceInfo> ListCuda() {
  Result<const CudaModule*> module = Module();
  if (module) return (*module)->list();
  if (access(kDriverFile, R_OK) != 0) return {};
  DeviceInfo info;
  info.type = DeviceType::kGpu;
  info.description.name = "cuda:0";
  info.description.hardware = "an NVIDIA GPU";
  info.description.memory = MemoryModel::kMirrored;
  info.unusable = std::string(module.error().message());
  return {std::move(info)};
}

Result<std::unique_ptr<Processor>> OpenCuda(uint32_t number) {
  Result<const CudaModule*> module = Module();
  if (!module) return module.error();
  Result<std::unique_ptr<MirrorDevice>> device = (*module)->open(number);
  if (!device) return device.error();
  return NewMirroredProcessor(std::move(*device));
}

}  // namespace weft::processor
