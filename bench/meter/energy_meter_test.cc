#include "bench/meter/energy_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/folder_test_kit.h"
#include "bench/meter/energy_spec.h"
#include "bench/meter/meter_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

class EnergyMeterTest : public testing::Test {
 protected:
  EnergyMeterTest() {
    std::filesystem::create_directories(folder_ / "intel-rapl:0");
    Write("intel-rapl:0/name", "package-0");
    Write("intel-rapl:0/max_energy_range_uj", "1000000000");
    Write("intel-rapl:0/energy_uj", "0");
    Write("stat", "cpu 0 0 0 0 0 0 0");
    places_.powercap = folder_.path();
    places_.stat = folder_ / "stat";
    nvml_.device = [](unsigned int number, void**) { return number == 0 ? 0 : 6; };
    nvml_.name = [](void*, char* name, unsigned int) -> int { return name[0] = 0; };
    nvml_.energy = [](void*, unsigned long long* to) { return *to = 5000, 0; };
    places_.nvml = &nvml_;
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text << "\n";
  }
  std::string ErrorOf(const std::string& spec) {
    auto sources = OpenEnergy(spec, places_);
    EXPECT_FALSE(sources) << spec;
    return sources ? "" : sources.error().ToString();
  }

  base::TestFolder folder_;
  EnergyPlaces places_;
  Nvml nvml_{};
};

TEST_F(EnergyMeterTest, EnergyAndMeanPower) {
  EnergyMeter meter(OpenEnergy("rapl", places_));
  const double before_s = NowS();
  meter.Start({});
  usleep(50'000);
  Write("intel-rapl:0/energy_uj", "10000000");
  meter.Sample();
  ASSERT_TRUE(meter.sampled_power());
  EXPECT_LE(*meter.sampled_power(), Watts(10 / 0.05));
  EXPECT_GE(*meter.sampled_power(), Watts(10 / (NowS() - before_s)));
  const Readings readings = meter.Stop();
  EXPECT_DOUBLE_EQ(10, readings.at("energy_j").value());
  EXPECT_LE(readings.at("power_w_mean").value(), 10 / 0.05);
  EXPECT_EQ("rapl package-0", readings.at("energy_j").source());
  EXPECT_EQ("W", readings.at("power_w_mean").unit());
  EXPECT_FALSE(readings.at("energy_j").modelled());
}

TEST_F(EnergyMeterTest, SeveralAreAdded) {
  for (const char* spec : {"rapl+nvml", "auto"}) {
    Write("intel-rapl:0/energy_uj", "0");
    EnergyMeter meter(OpenEnergy(spec, places_));
    meter.Start({});
    Write("intel-rapl:0/energy_uj", "2000000");
    const Readings readings = meter.Stop();
    EXPECT_DOUBLE_EQ(2, readings.at("energy_j").value());
    EXPECT_THAT(readings.at("energy_j").source(), HasSubstr("rapl package-0 + nvml gpu 0"));
  }
}

TEST_F(EnergyMeterTest, AModelIsAlwaysCalledOne) {
  for (const char* spec : {"model:100,200", "rapl+model:10,20"}) {
    EnergyMeter meter(OpenEnergy(spec, places_));
    meter.Start({});
    usleep(20'000);
    const Readings readings = meter.Stop();
    for (const char* name : {"energy_j", "power_w_mean"})
      EXPECT_TRUE(ToJson(readings.at(name)).value("modelled", false)) << spec;
  }
}

TEST_F(EnergyMeterTest, WhatIsNotThereSaysWhy) {
  places_.powercap = "/nowhere";
  nvml_.device = [](unsigned int, void**) { return 6; };
  EnergyMeter meter(OpenEnergy("auto", places_));
  meter.Start({});
  meter.Sample();
  EXPECT_FALSE(meter.sampled_power());
  const Readings readings = meter.Stop();
  EXPECT_THAT(readings.at("energy_j").reason(), HasSubstr("/nowhere"));
  EXPECT_THAT(readings.at("energy_j").reason(), HasSubstr("no GPU 0"));
  EXPECT_FALSE(readings.at("power_w_mean").available());
}

TEST_F(EnergyMeterTest, ATableIsReadAfterTheRun) {
  EnergyMeter meter(OpenEnergy("csv:" + (folder_ / "power.csv"), places_));
  PowerBounds bounds;
  bounds.Before();
  meter.Start({});
  bounds.Begun();
  meter.Sample();
  EXPECT_FALSE(meter.sampled_power());
  std::string table = "t,w";
  for (int second = 0; second <= 60; second++) table += "\n" + std::to_string(second) + ",50";
  Write("power.csv", table);
  usleep(100'000);
  bounds.Asked();
  const Readings readings = meter.Stop();
  bounds.Answered();
  EXPECT_GE(readings.at("power_w_mean").value(), bounds.Least(50));
  EXPECT_LE(readings.at("power_w_mean").value(), bounds.Most(50));
}

TEST_F(EnergyMeterTest, WordsThatMeanNothing) {
  for (const char* spec : {"", "joules", "csv:", "model:100", "model:a,b", "nvml:x",
                           "serial:", "serial:/dev/null,5", "serial:/dev/null,step=0", "rapl:1"})
    EXPECT_THAT(ErrorOf(spec), HasSubstr("not one of rapl")) << spec;
  EXPECT_THAT(ErrorOf("model:20,10"), HasSubstr("0 <= idle <= busy"));
  EXPECT_THAT(ErrorOf("serial:/dev/nowhere,511n:1,step=0.002"), HasSubstr("/dev/nowhere"));
  EXPECT_THAT(ErrorOf("rapl+nvml:3"), HasSubstr("no GPU 3"));
}

}  // namespace
}  // namespace weft::bench
