#include "bench/harness/probe.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    threads.push_back(std::stoi(entry.path().filename().string()));
  return threads;
}

std::optional<uint64_t> Sum(const std::vector<int>& descriptors) {
  if (descriptors.empty()) return std::nullopt;
  uint64_t sum = 0;
  for (const int fd : descriptors) {
    uint64_t value = 0;
    if (read(fd, &value, sizeof value) != sizeof value) return std::nullopt;
    sum += value;
  }
  return sum;
}

template <typename T>
nlohmann::json Each(const std::optional<T>& before, const std::optional<T>& after,
                    uint64_t operations) {
  if (!before || !after || *after < *before || operations == 0) return "unavailable";
  return static_cast<double>(*after - *before) / static_cast<double>(operations);
}

}  // namespace

HardwareCounters::HardwareCounters(pid_t pid) {
  const std::vector<pid_t> threads = ThreadsOf(pid);
  instructions_ = Open(threads, PERF_COUNT_HW_INSTRUCTIONS);
  cycles_ = Open(threads, PERF_COUNT_HW_CPU_CYCLES);
  cache_misses_ = Open(threads, PERF_COUNT_HW_CACHE_MISSES);
}

HardwareCounters::~HardwareCounters() {
  for (const auto* list : {&instructions_, &cycles_, &cache_misses_})
    for (const int fd : *list) close(fd);
}

// All threads or none: a sum over some of them would be a wrong figure.
std::vector<int> HardwareCounters::Open(const std::vector<pid_t>& threads, uint64_t event) const {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = event;
  std::vector<int> descriptors;
  for (const pid_t thread : threads) {
    const long fd =
        syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
      for (const int open : descriptors) close(open);
      return {};
    }
    descriptors.push_back(static_cast<int>(fd));
  }
  return descriptors;
}

HardwareCounters::Reading HardwareCounters::Read() const {
  return {Sum(instructions_), Sum(cycles_), Sum(cache_misses_)};
}

std::optional<double> PackageJoules() {
  const std::string line = ReadLine("/sys/class/powercap/intel-rapl:0/energy_uj");
  if (line.empty()) return std::nullopt;
  return std::stod(line) * 1e-6;
}

nlohmann::json PerOperation(const HardwareCounters::Reading& before,
                            const HardwareCounters::Reading& after,
                            const std::optional<double>& joules_before,
                            const std::optional<double>& joules_after, uint64_t operations) {
  return {{"instructions_per_op", Each(before.instructions, after.instructions, operations)},
          {"cycles_per_op", Each(before.cycles, after.cycles, operations)},
          {"cache_misses_per_op", Each(before.cache_misses, after.cache_misses, operations)},
          {"package_joules_per_op", Each(joules_before, joules_after, operations)}};
}

}  // namespace weft::bench
