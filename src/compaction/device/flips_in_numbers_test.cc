// What a number that flips in a device's memory may do: send a kernel to an address that is none,
// which costs a GPU the job, but neither keep it at work for ever nor bring down the host.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "compaction/device/device_executor.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/flipping_device_test_kit.h"
#include "compaction/device/mapped_device_test_kit.h"

namespace weft::compaction::device {
namespace {

using Flipping = FlippingDevice<MappedDevice>;

constexpr uint64_t kPieceBytes = 7000;  // of FillForFaults several
constexpr rlim_t kCpuLimitS = 3;        // a job takes some milliseconds
constexpr unsigned kLimitS = 120;       // should it wait, not work
constexpr int kFaultOfKernel = 3;
constexpr int kFaultOfHost = 4;
constexpr int kNeverEnds = 5;

void EndBySignal(int signal) {
  if (signal == SIGXCPU || signal == SIGALRM) ::_exit(kNeverEnds);
  ::_exit(MappedDevice::in_kernel() ? kFaultOfKernel : kFaultOfHost);
}

uint64_t RunJob(JobKit* kit, const Flip& flip) {
  FlipCounts counts;
  DeviceExecutor<Flipping> executor(
      "mapped", kPieceBytes, [&]() -> Result<std::unique_ptr<Flipping>> {
        return std::make_unique<Flipping>(std::make_unique<MappedDevice>(), flip, &counts);
      });
  (void)executor.Run(kit->job(), kit->host());
  return counts.runs;
}

// A process of its own for each: 0, or one of the above.
int RunInChild(JobKit* kit, const Flip& flip) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGXCPU, SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
      std::signal(signal, EndBySignal);
    const rlimit limit = {kCpuLimitS, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_CPU, &limit) != 0) ::_exit(kFaultOfHost);
    ::alarm(kLimitS);
    RunJob(kit, flip);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFaultOfHost;
}

TEST(FlipsInNumbers, CostADeviceTheJobAtMost) {
#ifdef WEFT_SANITIZED
  GTEST_SKIP() << "a sanitizer ends a process by itself";
#endif
  JobKit kit;
  FillForFaults(&kit);
  const table::InternalFilterPolicy policy(NewBloomFilterPolicy(10));
  kit.job().format.filter = &policy;
  kit.host().threads = 1;  // none is left for the child
  const uint64_t runs = RunJob(&kit, {});
  MappedDevice::Reset();
  ASSERT_LT(100u, runs);
  table::Strings strings(table::TestSeed());
  const int flips = std::getenv("WEFT_LONG") != nullptr ? 30'000 : 400;
  const bool is_small = std::getenv("WEFT_SMALL") != nullptr;  // until one matters
  int faults = 0;
  for (int i = 0; i < flips && !(is_small && i >= 40 && faults > 0) && !HasFailure(); i++) {
    const Flip flip{
        .before_run = strings.Below(runs), .random = strings.Below(~0ull), .bytes_only = false};
    SCOPED_TRACE("run " + std::to_string(flip.before_run) + ", random " +
                 std::to_string(flip.random));
    const int end = RunInChild(&kit, flip);
    EXPECT_NE(kNeverEnds, end);
    EXPECT_NE(kFaultOfHost, end);
    faults += end == kFaultOfKernel ? 1 : 0;
  }
  EXPECT_LT(0, faults) << "nothing that flipped mattered: this shows nothing";
}

}  // namespace
}  // namespace weft::compaction::device
