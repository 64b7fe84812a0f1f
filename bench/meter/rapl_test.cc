#include "bench/meter/rapl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/folder_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

// A folder like /sys/class/powercap.
class Powercap {
 public:
  void Zone(const std::string& folder, const std::string& name, uint64_t range_uj) {
    std::filesystem::create_directories(folder_ / folder);
    Write(folder + "/name", name);
    Write(folder + "/max_energy_range_uj", std::to_string(range_uj));
    Energy(folder, 0);
  }
  void Energy(const std::string& folder, uint64_t microjoules) {
    Write(folder + "/energy_uj", std::to_string(microjoules));
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text << "\n";
  }
  std::string path() const { return folder_.path(); }

 private:
  base::TestFolder folder_;
};

TEST(Rapl, AddsPackagesAndMemory) {
  Powercap sys;
  sys.Zone("intel-rapl:0", "package-0", 1'000'000'000);
  sys.Zone("intel-rapl:0:0", "core", 1'000'000'000);
  sys.Zone("intel-rapl:0:1", "dram", 1'000'000'000);
  sys.Zone("intel-rapl:1", "package-1", 1'000'000'000);
  sys.Zone("intel-rapl:2", "psys", 1'000'000'000);
  sys.Zone("intel-rapl-mmio:0", "package-0", 1'000'000'000);
  auto rapl = Rapl::Open(sys.path());
  ASSERT_TRUE(rapl) << rapl.error().ToString();
  EXPECT_EQ("rapl package-0, dram, package-1", (*rapl)->Name());
  sys.Energy("intel-rapl:0", 500);
  ASSERT_TRUE((*rapl)->Start().ok());
  for (const char* all : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"})
    sys.Energy(all, 7'000'000);
  sys.Energy("intel-rapl:0", 3'000'500);
  sys.Energy("intel-rapl:0:1", 500'000);
  sys.Energy("intel-rapl:1", 1'000'000);
  EXPECT_DOUBLE_EQ(4.5, (*rapl)->Used().value().value());
}

TEST(Rapl, CountersThatBeginAnewGoOn) {
  Powercap sys;
  sys.Zone("intel-rapl:0", "package-0", 9'999'999);
  auto rapl = Rapl::Open(sys.path());
  ASSERT_TRUE(rapl);
  sys.Energy("intel-rapl:0", 9'000'000);
  ASSERT_TRUE((*rapl)->Start().ok());
  double expected = 0;
  for (const auto& [energy, step] : {std::pair{2'000'000, 3}, {8'000'000, 6}, {1'000'000, 3}}) {
    sys.Energy("intel-rapl:0", static_cast<uint64_t>(energy));
    expected += step;
    EXPECT_DOUBLE_EQ(expected, (*rapl)->Used().value().value());
  }
}

TEST(Rapl, WhyItIsUnavailable) {
  EXPECT_THAT(Rapl::Open("/nowhere").error().message(), HasSubstr("there is no /nowhere"));
  EXPECT_EQ(Code::kUnsupported, Rapl::Open("/nowhere").error().code());
  Powercap sys;
  EXPECT_THAT(Rapl::Open(sys.path()).error().message(), HasSubstr("has no package"));
  sys.Zone("intel-rapl:0", "package-0", 1000);
  sys.Write("intel-rapl:0/energy_uj", "much");
  EXPECT_THAT(Rapl::Open(sys.path()).error().message(), HasSubstr("holds no number"));
}

TEST(Rapl, MissingRightsAreNamed) {
  if (geteuid() == 0) {
    // Root may read anything: a folder in the file's place refuses even it.
    Powercap sys;
    sys.Zone("intel-rapl:0", "package-0", 1000);
    std::filesystem::remove(sys.path() + "/intel-rapl:0/energy_uj");
    std::filesystem::create_directory(sys.path() + "/intel-rapl:0/energy_uj");
    EXPECT_THAT(Rapl::Open(sys.path()).error().message(), HasSubstr("chmod a+r"));
    return;
  }
  Powercap sys;
  sys.Zone("intel-rapl:0", "package-0", 1000);
  std::filesystem::permissions(sys.path() + "/intel-rapl:0/energy_uj",
                               std::filesystem::perms::none);
  EXPECT_THAT(Rapl::Open(sys.path()).error().message(), HasSubstr("Permission denied"));
  EXPECT_THAT(Rapl::Open(sys.path()).error().message(), HasSubstr("chmod a+r"));
}

TEST(Rapl, TheRealOneOrTheReason) {
  auto rapl = Rapl::Open();
  if (!rapl) {
    EXPECT_EQ(Code::kUnsupported, rapl.error().code());
    GTEST_SKIP() << rapl.error().message();
  }
  ASSERT_TRUE((*rapl)->Start().ok());
  usleep(300'000);
  auto used = (*rapl)->Used();
  ASSERT_TRUE(used);
  EXPECT_GT(used->value(), 0);
  EXPECT_LT(*used / Seconds(0.3), Watts(5000));
}

}  // namespace
}  // namespace weft::bench
