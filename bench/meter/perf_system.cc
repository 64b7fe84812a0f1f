#include "bench/meter/perf_system.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

class Kernel : public PerfSystem {
 public:
  int Open(const perf_event_attr& attributes, pid_t pid, int cpu) override {
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
  }
  ssize_t Read(int fd, void* to, size_t bytes) override { return read(fd, to, bytes); }
  void Close(int fd) override { close(fd); }
  std::string Paranoid() override { return ReadLine("/proc/sys/kernel/perf_event_paranoid"); }
};

}  // namespace

PerfSystem* PerfSystem::Real() {
  static Kernel kernel;
  return &kernel;
}

}  // namespace weft::bench
