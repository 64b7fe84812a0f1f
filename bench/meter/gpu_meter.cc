#include "bench/meter/gpu_meter.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/meter/power_sampler.h"

namespace weft::bench {
namespace {

constexpr int kSuccess = 0;

// Of the counter that runs from when the driver was loaded.
class CounterOfGpu : public EnergySource {
 public:
  CounterOfGpu(std::string name, std::unique_ptr<GpuMeter> gpu)
      : name_(std::move(name)), gpu_(std::move(gpu)) {}

  std::string Name() const override { return name_; }
  Status Start() override {
    auto now = Read();
    if (!now) return now.error();
    begin_ = *now;
    return Status::Ok();
  }
  Result<Joules> Used() override {
    auto now = Read();
    if (!now) return now.error();
    return *now - begin_;
  }

 private:
  Result<Joules> Read() const {
    if (const auto energy = gpu_->Energy()) return *energy;
    return Status(Code::kDeviceLost, name_ + " does not answer");
  }

  const std::string name_;
  const std::unique_ptr<GpuMeter> gpu_;
  Joules begin_;
};

Reading Missing(const char* what) {
  return Reading::Unavailable(fmt::format("the GPU's driver does not report {}", what));
}

}  // namespace

Result<std::unique_ptr<GpuMeter>> GpuMeter::Open(int number, const Nvml* nvml) {
  if (nvml == nullptr) {
    auto loaded = Nvml::Load();
    if (!loaded) return loaded.error();
    nvml = *loaded;
  }
  void* device = nullptr;
  const int code = nvml->device(static_cast<unsigned int>(number), &device);
  if (number < 0 || code != kSuccess) {
    return Status(Code::kUnsupported,
                  "NVML has no GPU " + std::to_string(number) + ": code " + std::to_string(code));
  }
  char name[96] = "";
  if (nvml->name(device, name, sizeof name) != kSuccess) name[0] = '\0';
  return std::unique_ptr<GpuMeter>(new GpuMeter(*nvml, device, name));  // freed by the pointer
}

std::optional<double> GpuMeter::BusyPercent() const {
  NvmlUtilization utilization{};
  if (nvml_.utilization(device_, &utilization) != kSuccess) return std::nullopt;
  return utilization.gpu;
}

std::optional<double> GpuMeter::MemoryBytes() const {
  NvmlMemory memory{};
  if (nvml_.memory(device_, &memory) != kSuccess) return std::nullopt;
  return static_cast<double>(memory.used);
}

std::optional<Joules> GpuMeter::Energy() const {
  unsigned long long millijoules = 0;
  if (nvml_.energy(device_, &millijoules) != kSuccess) return std::nullopt;
  return Joules(static_cast<double>(millijoules) * 1e-3);
}

std::optional<Watts> GpuMeter::Power() const {
  unsigned int milliwatts = 0;
  if (nvml_.power(device_, &milliwatts) != kSuccess) return std::nullopt;
  return Watts(milliwatts * 1e-3);
}

Result<std::unique_ptr<EnergySource>> GpuEnergy(int number, const Nvml* nvml, Seconds interval,
                                                Seconds gap_max) {
  auto opened = GpuMeter::Open(number, nvml);
  if (!opened) return opened.error();
  std::unique_ptr<GpuMeter> gpu = std::move(*opened);
  const std::string name = fmt::format("nvml gpu {} {}", number, gpu->name());
  if (gpu->Energy())
    return std::unique_ptr<EnergySource>(std::make_unique<CounterOfGpu>(name, std::move(gpu)));
  if (!gpu->Power())
    return Status(Code::kUnsupported, name + " reports neither its energy nor its power");
  const std::shared_ptr<GpuMeter> shared = std::move(gpu);
  return std::unique_ptr<EnergySource>(std::make_unique<PowerSampler>(
      name + ", sampled power", interval,
      [shared, name]() -> Result<Watts> {
        if (const auto power = shared->Power()) return *power;
        return Status(Code::kDeviceLost, name + " does not answer");
      },
      gap_max));
}

GpuRunMeter::GpuRunMeter(int number, const Nvml* nvml) {
  auto gpu = GpuMeter::Open(number, nvml);
  if (!gpu) {
    why_not_ = gpu.error().message();
    return;
  }
  gpu_ = std::move(*gpu);
  auto energy = GpuEnergy(number, nvml);
  if (energy) {
    energy_ = std::move(*energy);
  } else {
    why_no_energy_ = energy.error().message();
  }
}

void GpuRunMeter::Start(const std::vector<pid_t>&) {
  if (gpu_ == nullptr) return;
  busy_percent_sum_ = 0;
  busy_samples_ = 0;
  memory_bytes_max_ = gpu_->MemoryBytes();
  if (energy_ == nullptr) return;
  const Status status = energy_->Start();
  why_no_energy_ = status.ok() ? "" : status.ToString();
}

void GpuRunMeter::Sample() {
  if (gpu_ == nullptr) return;
  last_busy_percent_ = gpu_->BusyPercent();
  if (last_busy_percent_) {
    busy_percent_sum_ += *last_busy_percent_;
    ++busy_samples_;
  }
  if (const auto bytes = gpu_->MemoryBytes())
    memory_bytes_max_ = std::max(*bytes, memory_bytes_max_.value_or(0));
}

Readings GpuRunMeter::Stop() {
  const auto all = [](const Reading& energy, const Reading& busy, const Reading& memory) {
    return Readings{{"gpu_energy_j", energy}, {"gpu_busy", busy}, {"gpu_memory_bytes", memory}};
  };
  if (gpu_ == nullptr) {
    const Reading none = Reading::Unavailable(why_not_);
    return all(none, none, none);
  }
  Sample();
  const auto energy_of_run = [this] {
    if (!why_no_energy_.empty()) return Reading::Unavailable(why_no_energy_);
    auto used = energy_->Used();
    if (!used) return Reading::Unavailable(used.error().ToString());
    return Reading::Of(*used, energy_->Name());
  };
  const std::string source = "nvml " + gpu_->name();
  return all(energy_of_run(),
             busy_samples_ == 0 ? Missing("how busy it is")
                                : Reading::Of(busy_percent_sum_ / busy_samples_ / 100, "1", source),
             memory_bytes_max_ ? Reading::Of(*memory_bytes_max_, "B", source)
                               : Missing("what memory it holds"));
}

}  // namespace weft::bench
