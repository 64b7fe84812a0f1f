#include "bench/meter/nvml.h"

#include <dlfcn.h>

#include <string>

namespace weft::bench {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

Result<Nvml> LoadOnce() {
  void* const opened = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (opened == nullptr) return Status(Code::kUnsupported, "there is no NVIDIA driver");
  Nvml found{};
  if (!Find(opened, "nvmlInit_v2", &found.init) ||
      !Find(opened, "nvmlDeviceGetHandleByIndex_v2", &found.device) ||
      !Find(opened, "nvmlDeviceGetName", &found.name) ||
      !Find(opened, "nvmlDeviceGetUtilizationRates", &found.utilization) ||
      !Find(opened, "nvmlDeviceGetMemoryInfo", &found.memory) ||
      !Find(opened, "nvmlDeviceGetTotalEnergyConsumption", &found.energy) ||
      !Find(opened, "nvmlDeviceGetPowerUsage", &found.power)) {
    return Status(Code::kUnsupported, "the NVIDIA driver's NVML is too old");
  }
  const int code = found.init();
  if (code != 0)
    return Status(Code::kUnsupported, "NVML does not start: code " + std::to_string(code));
  return found;
}

}  // namespace

Result<const Nvml*> Nvml::Load() {
  static const Result<Nvml> library = LoadOnce();
  if (!library) return library.error();
  return &library.value();
}

}  // namespace weft::bench
