#include "base/idle_cpus.h"

#include <charconv>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.h"

namespace weft::base {

std::optional<CpuTicks> ParseCpuTicks(std::string_view stat) {
  constexpr std::string_view kName = "cpu ";
  constexpr int kIdle = 3, kWaiting = 4;  // behind user, nice, system
  constexpr int kGuest = 8;               // guests' time is in user's, too
  if (!stat.starts_with(kName)) return std::nullopt;
  stat = stat.substr(kName.size(), stat.find('\n') - kName.size());
  CpuTicks ticks;
  int column = 0;
  while (column < kGuest) {
    stat.remove_prefix(std::min(stat.find_first_not_of(' '), stat.size()));
    if (stat.empty()) break;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(stat.data(), stat.data() + stat.size(), value);
    if (error != std::errc()) return std::nullopt;
    stat.remove_prefix(static_cast<size_t>(end - stat.data()));
    ticks.all += value;
    if (column == kIdle || column == kWaiting) ticks.idle += value;
    column++;
  }
  if (column <= kWaiting) return std::nullopt;
  return ticks;
}

IdleCpus::IdleCpus()
    : cpus_(std::max(1.0, static_cast<double>(std::thread::hardware_concurrency()))),
      count_(cpus_) {}

double IdleCpus::Count() {
  MutexLock lock(&mutex_);
  const uint64_t now_ns = NowNs();
  if (read_ns_ != 0 && now_ns - read_ns_ < kWindowNs) return count_;
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  const std::optional<CpuTicks> ticks = ParseCpuTicks(line);
  if (!ticks) return count_;
  const uint64_t all = ticks->all - ticks_.all;
  if (read_ns_ != 0 && all != 0 && ticks->idle >= ticks_.idle)
    count_ = cpus_ * static_cast<double>(ticks->idle - ticks_.idle) / static_cast<double>(all);
  read_ns_ = now_ns;
  ticks_ = *ticks;
  return count_;
}

}  // namespace weft::base
