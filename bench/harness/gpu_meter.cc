#include "bench/harness/gpu_meter.h"

#include <dlfcn.h>

#include <string>

namespace weft::bench {
namespace {

// Of NVML's header, which not every machine has that has the library.
struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};
constexpr int kSuccess = 0;

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

struct GpuMeter::Library {
  int (*init)();
  int (*device)(unsigned int, void**);
  int (*utilization)(void*, Utilization*);
  int (*energy)(void*, unsigned long long*);
};

Result<std::unique_ptr<GpuMeter>> GpuMeter::Open(int number) {
  // Loaded once, and there as long as the program runs.
  static const Result<Library> library = []() -> Result<Library> {
    void* const opened = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (opened == nullptr) return Status(Code::kUnsupported, "there is no NVIDIA driver");
    Library found{};
    if (!Find(opened, "nvmlInit_v2", &found.init) ||
        !Find(opened, "nvmlDeviceGetHandleByIndex_v2", &found.device) ||
        !Find(opened, "nvmlDeviceGetUtilizationRates", &found.utilization) ||
        !Find(opened, "nvmlDeviceGetTotalEnergyConsumption", &found.energy)) {
      return Status(Code::kUnsupported, "the NVIDIA driver's NVML is too old");
    }
    const int code = found.init();
    if (code != kSuccess)
      return Status(Code::kUnsupported, "NVML does not start: code " + std::to_string(code));
    return found;
  }();
  if (!library) return library.error();
  void* device = nullptr;
  const int code = library.value().device(static_cast<unsigned int>(number), &device);
  if (number < 0 || code != kSuccess) {
    return Status(Code::kUnsupported,
                  "NVML has no GPU " + std::to_string(number) + ": code " + std::to_string(code));
  }
  return std::unique_ptr<GpuMeter>(new GpuMeter(&library.value(), device));  // freed by the pointer
}

std::optional<double> GpuMeter::BusyPercent() const {
  Utilization utilization{};
  if (library_.utilization(device_, &utilization) != kSuccess) return std::nullopt;
  return utilization.gpu;
}

std::optional<double> GpuMeter::Joules() const {
  unsigned long long millijoules = 0;
  if (library_.energy(device_, &millijoules) != kSuccess) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace weft::bench
