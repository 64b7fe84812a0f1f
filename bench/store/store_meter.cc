#include "bench/store/store_meter.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/crc32c.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Does a thread besides the caller run, or wait for a processor or a disk? On a busy machine a
// thread may get no CPU time for long and yet have work.
bool AnotherThreadWorks() {
  const std::string self = std::to_string(gettid());
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (task.path().filename() == self) continue;
    const std::string stat = ReadLine(task.path() / "stat");
    const size_t name_end = stat.rfind(')');  // the name may hold anything
    if (name_end == std::string::npos || name_end + 2 >= stat.size()) continue;
    const char state = stat[name_end + 2];
    if (state == 'R' || state == 'D') return true;
  }
  return false;
}

// Mebibytes a second that one thread copies and checksums, out of memory that is its own.
double CopyAndChecksum(double seconds) {
  constexpr size_t kPieceBytes = 1 << 20;
  constexpr size_t kPieces = 64;  // more than caches hold
  std::vector<char> from(kPieces * kPieceBytes, 'x');
  std::vector<char> to(kPieces * kPieceBytes, 'y');
  const uint64_t start = base::NowNs();
  const auto end = start + static_cast<uint64_t>(seconds * 1e9);
  uint64_t pieces = 0;
  uint32_t crc = 0;
  for (; base::NowNs() < end; ++pieces) {
    const size_t at = pieces % kPieces * kPieceBytes;
    from[at] = static_cast<char>(crc);
    std::memcpy(to.data() + at, from.data() + at, kPieceBytes);
    crc = base::ExtendCrc32c(crc, to.data() + at, kPieceBytes);
  }
  return static_cast<double>(pieces) * 1e9 / static_cast<double>(base::NowNs() - start);
}

}  // namespace

CpuSeconds CpuOfThisProcess() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const double user = SecondsOf(used.ru_utime), system = SecondsOf(used.ru_stime);
  return {user, system, user + system};
}

uint64_t BytesGivenToWrite() {
  std::ifstream file("/proc/self/io");
  for (std::string line; std::getline(file, line);) {
    unsigned long long bytes = 0;
    if (std::sscanf(line.c_str(), "wchar: %llu", &bytes) == 1) return bytes;
  }
  return 0;
}

double MachineTwoThreadsOverOne() {
  constexpr double kSeconds = 0.15;
  const double one = CopyAndChecksum(kSeconds);
  double second = 0;
  std::thread other([&second] { second = CopyAndChecksum(kSeconds); });
  const double first = CopyAndChecksum(kSeconds);
  other.join();
  return (first + second) / one;
}

double WaitUntilQuiet(double limit_s) {
  constexpr int kQuietWindows = 5;
  constexpr double kBusyCpuS = 0.002;  // of a window's 0.05 s
  const uint64_t start = base::NowNs();
  uint64_t last_busy = start;
  double cpu = CpuOfThisProcess().total;
  uint64_t written = BytesGivenToWrite();
  for (int quiet = 0; quiet < kQuietWindows;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double cpu_now = CpuOfThisProcess().total;
    const uint64_t written_now = BytesGivenToWrite();
    const bool busy = AnotherThreadWorks() || cpu_now - cpu > kBusyCpuS || written_now != written;
    quiet = busy ? 0 : quiet + 1;
    if (busy) last_busy = base::NowNs();
    cpu = cpu_now;
    written = written_now;
    if (static_cast<double>(base::NowNs() - start) * 1e-9 > limit_s) break;
  }
  return static_cast<double>(last_busy - start) * 1e-9;
}

}  // namespace weft::bench
