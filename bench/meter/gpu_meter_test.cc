#include "bench/meter/gpu_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "bench/meter/meter_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

// One GPU whose figures the test sets; the library's calls have no object.
struct Gpu {
  std::atomic<unsigned long long> millijoules = 0;
  std::atomic<unsigned int> milliwatts = 0;
  std::atomic<unsigned int> busy_percent = 0;
  std::atomic<unsigned long long> memory_bytes = 0;
  std::atomic<int> energy_code = 0;
  std::atomic<int> power_code = 0;
  std::atomic<int> other_code = 0;
};
Gpu gpu;

Nvml EmulatedNvml() {
  gpu.millijoules = 1'000'000;
  gpu.milliwatts = 200'000;
  gpu.busy_percent = 0;
  gpu.memory_bytes = 0;
  gpu.energy_code = gpu.power_code = gpu.other_code = 0;
  Nvml nvml{};
  nvml.init = [] { return 0; };
  nvml.device = [](unsigned int number, void** device) {
    *device = &gpu;
    return number == 0 ? 0 : 6;
  };
  nvml.name = [](void*, char* name, unsigned int bytes) {
    strncpy(name, "Emulated GPU", bytes);
    return 0;
  };
  nvml.utilization = [](void*, NvmlUtilization* to) {
    to->gpu = gpu.busy_percent;
    return gpu.other_code.load();
  };
  nvml.memory = [](void*, NvmlMemory* to) {
    to->used = gpu.memory_bytes;
    return gpu.other_code.load();
  };
  nvml.energy = [](void*, unsigned long long* to) {
    *to = gpu.millijoules;
    return gpu.energy_code.load();
  };
  nvml.power = [](void*, unsigned int* to) {
    *to = gpu.milliwatts;
    return gpu.power_code.load();
  };
  return nvml;
}

TEST(GpuMeter, EnergyByTheCounter) {
  const Nvml nvml = EmulatedNvml();
  GpuRunMeter meter(0, &nvml);
  meter.Start({});
  gpu.millijoules += 42'500;
  gpu.busy_percent = 30;
  gpu.memory_bytes = 5000;
  meter.Sample();
  EXPECT_EQ(30, meter.busy_percent());
  gpu.busy_percent = 60;
  gpu.memory_bytes = 4000;
  const Readings readings = meter.Stop();
  EXPECT_DOUBLE_EQ(42.5, readings.at("gpu_energy_j").value());
  EXPECT_EQ("J", readings.at("gpu_energy_j").unit());
  EXPECT_EQ("nvml gpu 0 Emulated GPU", readings.at("gpu_energy_j").source());
  EXPECT_DOUBLE_EQ(0.45, readings.at("gpu_busy").value());
  EXPECT_EQ(5000, readings.at("gpu_memory_bytes").value());
}

TEST(GpuMeter, EnergyBySamplesWhereThereIsNoCounter) {
  const Nvml nvml = EmulatedNvml();
  gpu.energy_code = 3;  // not supported
  auto energy = GpuEnergy(0, &nvml, Seconds(0.05), kAnyGap);
  ASSERT_TRUE(energy) << energy.error().ToString();
  EXPECT_EQ("nvml gpu 0 Emulated GPU, sampled power", (*energy)->Name());
  const double begin_s = NowS();
  ASSERT_TRUE((*energy)->Start().ok());
  usleep(200'000);
  auto used = (*energy)->Used();
  ASSERT_TRUE(used) << used.error().ToString();
  EXPECT_GE(used->value(), 200 * 0.19);
  EXPECT_LE(used->value(), 200 * 1.02 * (NowS() - begin_s));
}

TEST(GpuMeter, WhatTheDriverDoesNotTellIsUnavailable) {
  const Nvml nvml = EmulatedNvml();
  gpu.energy_code = gpu.power_code = gpu.other_code = 3;
  GpuRunMeter meter(0, &nvml);
  meter.Start({});
  const Readings readings = meter.Stop();
  EXPECT_THAT(readings.at("gpu_energy_j").reason(), HasSubstr("neither its energy nor its power"));
  EXPECT_THAT(readings.at("gpu_busy").reason(), HasSubstr("how busy"));
  EXPECT_THAT(readings.at("gpu_memory_bytes").reason(), HasSubstr("memory"));
}

TEST(GpuMeter, AGpuThatFallsSilentLeavesNoFigure) {
  const Nvml nvml = EmulatedNvml();
  GpuRunMeter meter(0, &nvml);
  meter.Start({});
  gpu.energy_code = 15;
  EXPECT_THAT(meter.Stop().at("gpu_energy_j").reason(), HasSubstr("does not answer"));
}

TEST(GpuMeter, ThereIsNoSuchGpu) {
  EXPECT_EQ(Code::kUnsupported, GpuMeter::Open(-1).error().code());
  EXPECT_EQ(Code::kUnsupported, GpuMeter::Open(1000).error().code());
  const Nvml nvml = EmulatedNvml();
  EXPECT_THAT(GpuMeter::Open(1, &nvml).error().message(), HasSubstr("no GPU 1: code 6"));
  GpuRunMeter meter(1, &nvml);
  meter.Start({});
  EXPECT_EQ("NVML has no GPU 1: code 6", meter.Stop().at("gpu_energy_j").reason());
}

TEST(GpuMeter, ReadsTheDriverOrSaysWhyNot) {
  auto meter = GpuMeter::Open(0);
  if (!meter) {
    EXPECT_EQ(Code::kUnsupported, meter.error().code());
    EXPECT_NE("", meter.error().message());
    GTEST_SKIP() << meter.error().message();
  }
  if (const auto busy = (*meter)->BusyPercent()) {
    EXPECT_LE(0, *busy);
    EXPECT_GE(100, *busy);
  }
  if (const auto power = (*meter)->Power()) {
    EXPECT_LT(Watts(1), *power);
  }
  const auto before = (*meter)->Energy();
  const auto after = (*meter)->Energy();
  if (!before || !after) return;
  EXPECT_LE(*before, *after);
}

}  // namespace
}  // namespace weft::bench
