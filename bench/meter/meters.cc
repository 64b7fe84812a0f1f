#include "bench/meter/meters.h"

#include <unistd.h>

#include <algorithm>

#include "bench/harness/machine.h"
#include "bench/meter/now.h"

namespace weft::bench {
namespace {

PerfMeter::Options PerfOptions(const MeterOptions& options) {
  PerfMeter::Options perf;
  perf.by_cpu = options.by_cpu;
  perf.cpus = UsableCpus();
  perf.without = options.without;
  return perf;
}

}  // namespace

nlohmann::json ToJson(const MeterSlice& slice) {
  nlohmann::json json = {{"at_s", slice.at_s}, {"seconds", slice.seconds}};
  if (slice.cpu_percent) json["cpu_percent"] = *slice.cpu_percent;
  if (slice.power) json["power_w"] = slice.power->value();
  if (slice.gpu_busy_percent) json["gpu_busy_percent"] = *slice.gpu_busy_percent;
  return json;
}

MeterSet::MeterSet(const MeterOptions& options, PerfMeter::Options perf,
                   Result<std::vector<std::unique_ptr<EnergySource>>> energy)
    : processes_("/proc", options.without),
      client_("/proc", options.without),
      perf_(std::move(perf)),
      gpu_(options.gpu, options.places.nvml),
      energy_(std::move(energy)),
      idle_power_(options.idle_power) {}

Result<std::unique_ptr<MeterSet>> MeterSet::Make(const MeterOptions& options) {
  auto energy = OpenEnergy(options.energy, options.places);
  if (!energy && energy.error().code() == Code::kInvalidArgument) return energy.error();
  std::unique_ptr<MeterSet> set(  // freed by the pointer
      new MeterSet(options, PerfOptions(options), std::move(energy)));
  if (options.bandwidth) set->bandwidth_ = TriadReading(*options.bandwidth);
  return set;
}

void MeterSet::Start(const std::vector<pid_t>& pids) {
  is_embedded_ = std::find(pids.begin(), pids.end(), getpid()) != pids.end();
  meter_cpu_s_ = 0;
  last_cpu_ = Seconds(0);
  perf_.Start(pids);
  processes_.Start(pids);
  client_.Start({getpid()});
  gpu_.Start(pids);
  energy_.Start(pids);
  begin_s_ = last_s_ = NowS();
}

MeterSlice MeterSet::Sample() {
  const double cpu_before_s = ThreadCpuSeconds();
  MeterSlice slice;
  const double now_s = NowS();
  slice.at_s = last_s_ - begin_s_;
  slice.seconds = now_s - last_s_;
  last_s_ = now_s;
  auto cpu = processes_.CpuSinceStart();
  if (cpu && last_cpu_ && slice.seconds > 0)
    slice.cpu_percent = (*cpu - *last_cpu_).value() / slice.seconds * 100;
  last_cpu_.reset();
  if (cpu) last_cpu_ = *cpu;
  processes_.Sample();
  gpu_.Sample();
  energy_.Sample();
  slice.power = energy_.sampled_power();
  slice.gpu_busy_percent = gpu_.busy_percent();
  meter_cpu_s_ += ThreadCpuSeconds() - cpu_before_s;
  return slice;
}

Reading MeterSet::ClientCpu() const {
  if (is_embedded_)
    return Reading::Unavailable("the store runs in the client's process: see cpu_s");
  auto cpu = client_.CpuSinceStart();
  if (!cpu) return Reading::Unavailable(cpu.error().ToString());
  return Reading::Of(cpu->value(), "s", "clock_getcpuclockid");
}

Readings MeterSet::Stop() {
  Readings all = energy_.Stop();  // first: what follows is not the run's
  all.emplace("client_cpu_s", ClientCpu());
  for (Meter* meter :
       {static_cast<Meter*>(&perf_), static_cast<Meter*>(&processes_), static_cast<Meter*>(&gpu_)})
    all.merge(meter->Stop());
  if (idle_power_) all.emplace("idle_power_w", *idle_power_);
  if (bandwidth_) all.emplace("memory_bandwidth_bytes_per_s", *bandwidth_);
  all.emplace("meter_cpu_s", Reading::Of(meter_cpu_s_, "s", "the sampling thread"));
  return all;
}

}  // namespace weft::bench
