#include "processor/cuda/module.h"

#include <string>

#include "processor/cuda/cuda_mirror.h"
#include "processor/cuda/device_memory.h"

namespace weft::processor {
namespace {

std::vector<DeviceInfo> ListDevicesOfModule() {
  std::vector<DeviceInfo> list;
  Result<int> count = DeviceCount();
  if (!count) return list;  // no driver, or one that is too old: no device of ours
  for (int number = 0; number < *count; number++) {
    DeviceInfo info;
    info.type = DeviceType::kGpu;
    Result<DeviceFacts> facts = FactsOfDevice(number);
    if (facts) {
      info.description = DescriptionOf(number, *facts);
    } else {
      info.description.name = "cuda:" + std::to_string(number);
      info.description.hardware = "a CUDA device";
      info.description.memory = MemoryModel::kMirrored;
      info.unusable = std::string(facts.error().message());
    }
    list.push_back(std::move(info));
  }
  return list;
}

}  // namespace
}  // namespace weft::processor

extern "C" __attribute__((visibility("default"))) const weft::processor::CudaModule*
weft_cuda_module() {
  static const weft::processor::CudaModule module = [] {
    weft::processor::CudaModule made;
    made.list = weft::processor::ListDevicesOfModule;
    made.open = weft::processor::OpenCudaMirror;
    return made;
  }();
  return &module;
}
