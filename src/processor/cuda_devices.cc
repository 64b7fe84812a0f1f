#include "processor/cuda_devices.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "base/shared_module.h"
#include "processor/cuda/module.h"
#include "processor/mirror/mirrored_processor.h"

namespace weft::processor {
namespace {

constexpr base::SharedModule kModule = {.variable = "WEFT_CUDA_MODULE",
                                        .name = "libweft_cuda.so",
                                        .symbol = kCudaModuleSymbol,
                                        .purpose = "CUDA devices"};
constexpr const char* kDriverFile = "/proc/driver/nvidia/version";

// Asked anew each time, so that a drill may name another one later: what is loaded stays so.
Result<const CudaModule*> Module() {
  Result<void*> found = base::FindInModule(kModule);
  if (!found) return found.error();
  const auto module = reinterpret_cast<CudaModuleFunction>(*found);
  if (!module()->Fits())
    return Status(Code::kUnsupported,
                  "the module for CUDA devices belongs to another version of Weft");
  return module();
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
