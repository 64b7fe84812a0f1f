#include "bench/meter/idle_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/folder_test_kit.h"

namespace weft::bench {
namespace {

TEST(IdlePower, OfAModelIsTheModels) {
  base::TestFolder folder;
  std::ofstream(folder / "stat") << "cpu 0 0 0 0 0 0 0\n";
  EnergyPlaces places;
  places.stat = folder / "stat";
  const Reading power = IdlePower("model:41,120", Seconds(3600), places);  // nobody waits
  ASSERT_TRUE(power.available()) << power.reason();
  EXPECT_EQ(power.value(), 41);
  EXPECT_EQ(power.unit(), "W");
  EXPECT_TRUE(power.modelled());
}

TEST(IdlePower, OfAMeterIsMeasured) {
  Nvml nvml;
  nvml.device = [](unsigned int number, void**) { return number == 0 ? 0 : 6; };
  nvml.name = [](void*, char* name, unsigned int) -> int { return name[0] = 0; };
  nvml.energy = [](void*, unsigned long long* to) {
    static unsigned long long millijoules = 0;
    return *to = millijoules += 5000, 0;
  };
  EnergyPlaces places;
  places.nvml = &nvml;
  const Reading power = IdlePower("nvml", Seconds(0.01), places);
  ASSERT_TRUE(power.available()) << power.reason();
  EXPECT_GT(power.value(), 0);
  EXPECT_LE(power.value(), 5 / 0.01);
  EXPECT_FALSE(power.modelled());
}

TEST(IdlePower, WithoutAMeterThereIsAReasonAndNo0) {
  EnergyPlaces places;
  places.powercap = "/no/such/folder";
  const Reading none = IdlePower("rapl", Seconds(3600), places);
  EXPECT_FALSE(none.available());
  EXPECT_THAT(none.reason(), testing::HasSubstr("/no/such/folder"));
  EXPECT_THAT(IdlePower("csv:watts.csv", Seconds(3600), places).reason(),
              testing::HasSubstr("reports nothing before a run has ended"));
}

}  // namespace
}  // namespace weft::bench
