#include "bench/durable/meter.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.h"

namespace weft::bench {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

CpuSeconds CpuOfThisProcess() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return {SecondsOf(used.ru_utime), SecondsOf(used.ru_stime)};
}

uint64_t BytesGivenToWrite() {
  std::ifstream file("/proc/self/io");
  for (std::string line; std::getline(file, line);) {
    unsigned long long bytes = 0;
    if (std::sscanf(line.c_str(), "wchar: %llu", &bytes) == 1) return bytes;
  }
  return 0;
}

double WaitUntilQuiet(double limit_s) {
  constexpr int kQuietWindows = 5;
  constexpr double kBusyCpuS = 0.002;  // of a window's 0.05 s
  const uint64_t start = base::NowNs();
  uint64_t last_busy = start;
  double cpu = CpuOfThisProcess().Total();
  uint64_t written = BytesGivenToWrite();
  for (int quiet = 0; quiet < kQuietWindows;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double cpu_now = CpuOfThisProcess().Total();
    const uint64_t written_now = BytesGivenToWrite();
    const bool busy = cpu_now - cpu > kBusyCpuS || written_now != written;
    quiet = busy ? 0 : quiet + 1;
    if (busy) last_busy = base::NowNs();
    cpu = cpu_now;
    written = written_now;
    if (static_cast<double>(base::NowNs() - start) * 1e-9 > limit_s) break;
  }
  return static_cast<double>(last_busy - start) * 1e-9;
}

}  // namespace weft::bench
