#include "bench/meter/perf_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>

namespace weft::bench {
namespace {

using testing::HasSubstr;

// A kernel that counts what the test says.
class EmulatedKernel : public PerfSystem {
 public:
  struct Raw {
    uint64_t value, enabled_ns, running_ns;
  };

  int Open(const perf_event_attr& attributes, pid_t pid, int cpu) override {
    if (error != 0 && refuses(attributes, pid)) {
      errno = error;
      return -1;
    }
    if (open.size() >= files_max) {
      errno = EMFILE;
      return -1;
    }
    EXPECT_EQ(
        static_cast<uint64_t>(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING),
        attributes.read_format);
    EXPECT_EQ(pid >= 0, attributes.inherit == 1);
    open[next] = {attributes.config, cpu};
    return next++;
  }
  ssize_t Read(int fd, void* to, size_t bytes) override {
    const auto [config, cpu] = open.at(fd);
    const Raw raw = count(config, cpu);
    EXPECT_EQ(sizeof raw, bytes);
    std::memcpy(to, &raw, sizeof raw);
    return lost ? 0 : static_cast<ssize_t>(sizeof raw);
  }
  void Close(int fd) override { EXPECT_EQ(1u, open.erase(fd)); }
  std::string Paranoid() override { return paranoid; }

  int error = 0;
  std::function<bool(const perf_event_attr&, pid_t)> refuses = [](const auto&, pid_t) {
    return true;
  };
  std::function<Raw(uint64_t config, int cpu)> count = [](uint64_t, int) { return Raw{}; };
  size_t files_max = 1000;
  bool lost = false;
  std::string paranoid = "4";
  std::map<int, std::pair<uint64_t, int>> open;
  int next = 100;
};

PerfMeter::Options With(EmulatedKernel* kernel) {
  PerfMeter::Options options;
  options.system = kernel;
  return options;
}

Readings Measured(PerfMeter* meter) {
  meter->Start({getpid()});
  return meter->Stop();
}

TEST(PerfMeter, CountsBetweenStartAndStop) {
  EmulatedKernel kernel;
  uint64_t steps = 1;
  kernel.count = [&](uint64_t config, int) {
    return EmulatedKernel::Raw{steps * (config + 1) * 1000, steps * 10, steps * 10};
  };
  PerfMeter meter(With(&kernel));
  meter.Start({getpid()});
  const auto threads = static_cast<double>(kernel.open.size() / 6);
  EXPECT_GE(threads, 1);
  steps = 4;
  const Readings readings = meter.Stop();
  EXPECT_EQ(threads * 3 * 1000 * (PERF_COUNT_HW_INSTRUCTIONS + 1),
            readings.at("instructions").value());
  EXPECT_EQ(threads * 3 * 1000 * (PERF_COUNT_HW_BRANCH_MISSES + 1),
            readings.at("branch_misses").value());
  EXPECT_EQ("perf", readings.at("cycles").source());
  EXPECT_EQ(6u, readings.size());
  EXPECT_TRUE(kernel.open.empty());
}

TEST(PerfMeter, TurnsAreScaledByTheTimeThatTheyWereGiven) {
  EmulatedKernel kernel;
  uint64_t steps = 0;
  kernel.count = [&](uint64_t, int) {
    return EmulatedKernel::Raw{steps * 500, steps * 1000, steps * 250};
  };
  PerfMeter meter(With(&kernel));
  meter.Start({getpid()});
  const auto threads = static_cast<double>(kernel.open.size() / 6);
  steps = 1;
  const Readings readings = meter.Stop();
  EXPECT_EQ(threads * 2000, readings.at("cycles").value());
  EXPECT_EQ("perf, counted 25 % of the time", readings.at("cycles").source());
}

TEST(PerfMeter, ACounterThatNeverGotItsTurnIsUnavailable) {
  EmulatedKernel kernel;
  uint64_t steps = 0;
  kernel.count = [&](uint64_t, int) { return EmulatedKernel::Raw{0, steps * 1000, 0}; };
  PerfMeter meter(With(&kernel));
  meter.Start({getpid()});
  steps = 1;
  EXPECT_THAT(meter.Stop().at("cycles").reason(), HasSubstr("other events kept the counter"));
}

TEST(PerfMeter, EachCpuOfTheMachine) {
  EmulatedKernel kernel;
  uint64_t steps = 0;
  kernel.count = [&](uint64_t, int cpu) {
    return EmulatedKernel::Raw{steps * static_cast<uint64_t>(10 + cpu), steps, steps};
  };
  PerfMeter::Options options = With(&kernel);
  options.by_cpu = true;
  options.cpus = {0, 3};
  PerfMeter meter(options);
  meter.Start({getpid()});
  steps = 2;
  const Readings readings = meter.Stop();
  EXPECT_EQ(46, readings.at("machine_cycles").value());
  EXPECT_THAT(readings.at("machine_cycles").by_cpu(), testing::ElementsAre(20, 26));
  EXPECT_EQ(12u, readings.size());
}

TEST(PerfMeter, WithoutTheKernelsShareItSaysUserOnly) {
  EmulatedKernel kernel;
  kernel.error = EACCES;
  kernel.refuses = [](const perf_event_attr& attributes, pid_t) {
    return attributes.exclude_kernel == 0;
  };
  PerfMeter meter(With(&kernel));
  EXPECT_EQ("perf, user only", Measured(&meter).at("cycles").source());
}

TEST(PerfMeter, WhyItIsUnavailable) {
  struct Case {
    int error;
    const char* text;
  };
  for (const auto& [error, text] :
       {Case{EACCES, "kernel.perf_event_paranoid is 4; needs at most 2 or CAP_PERFMON"},
        Case{EPERM, "not permitted"}, Case{ENOENT, "has no such counter"},
        Case{EMFILE, "too many open files"}, Case{ENOSYS, "no perf events"},
        Case{EINVAL, "Invalid argument"}}) {
    EmulatedKernel kernel;
    kernel.error = error;
    PerfMeter meter(With(&kernel));
    for (const auto& [name, reading] : Measured(&meter)) {
      EXPECT_FALSE(reading.available()) << name;
      EXPECT_THAT(reading.reason(), HasSubstr(text));
    }
  }
}

TEST(PerfMeter, TheMachineNeedsMoreRights) {
  EmulatedKernel kernel;
  kernel.error = EACCES;
  kernel.refuses = [](const perf_event_attr&, pid_t pid) { return pid < 0; };
  PerfMeter::Options options = With(&kernel);
  options.by_cpu = true;
  options.cpus = {0};
  PerfMeter meter(options);
  const Readings readings = Measured(&meter);
  EXPECT_TRUE(readings.at("cycles").available());
  EXPECT_THAT(readings.at("machine_cycles").reason(), HasSubstr("needs at most 0"));
}

TEST(PerfMeter, SomeThreadsAreNoSum) {
  EmulatedKernel kernel;
  kernel.files_max = 3;
  PerfMeter::Options options = With(&kernel);
  options.by_cpu = true;
  options.cpus = {0, 1, 2, 3, 4, 5, 6, 7};
  PerfMeter meter(options);
  const Readings readings = Measured(&meter);
  EXPECT_THAT(readings.at("machine_instructions").reason(), HasSubstr("too many open files"));
  EXPECT_TRUE(kernel.open.empty());
}

TEST(PerfMeter, ALostCounterIsUnavailable) {
  EmulatedKernel kernel;
  PerfMeter meter(With(&kernel));
  meter.Start({getpid()});
  kernel.lost = true;
  EXPECT_THAT(meter.Stop().at("cycles").reason(), HasSubstr("stopped the counter"));
}

TEST(PerfMeter, AProcessThatIsNotThereHasNoCounters) {
  EmulatedKernel kernel;
  PerfMeter meter(With(&kernel));
  meter.Start({999'999'999});
  EXPECT_EQ("the process has ended", meter.Stop().at("cycles").reason());
}

TEST(PerfMeter, RealCountersOrTheReason) {
  PerfMeter meter;
  meter.Start({getpid()});
  std::atomic<uint64_t> sum = 0;
  for (uint64_t i = 0; i < 10'000'000; ++i) sum = sum + i;
  const Readings readings = meter.Stop();
  const Reading& instructions = readings.at("instructions");
  if (!instructions.available()) {
    EXPECT_NE("", instructions.reason());
    GTEST_SKIP() << instructions.reason();
  }
  EXPECT_GT(instructions.value(), 2e7);
  EXPECT_LT(instructions.value(), 1e9);
}

}  // namespace
}  // namespace weft::bench
