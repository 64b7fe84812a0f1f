#include "planner/calibration.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/folder_test_kit.h"
#include "planner/machine_test_kit.h"

namespace weft::planner {
namespace {

TEST(Calibration, IsReadAsItWasWritten) {
  Calibration calibration = TestMachine();
  calibration.devices[1].worker_units[static_cast<size_t>(Work::kParse)] = {1, 2, 3, 4, 5, 6};
  calibration.cpu.cache_growth = 0.5;
  auto read = ParseCalibration(ToText(calibration));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, calibration);
}

TEST(Calibration, EveryWorkHasAName) {
  for (uint32_t i = 0; i < kWorkCount; i++) {
    EXPECT_FALSE(WorkName(static_cast<Work>(i)).empty());
    for (uint32_t j = 0; j < i; j++)
      EXPECT_NE(WorkName(static_cast<Work>(i)), WorkName(static_cast<Work>(j)));
  }
}

// Each with what is to be said of it.
TEST(Calibration, RefusesWhatIsNone) {
  const std::string good = ToText(TestMachine());
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not a calibration"},
      {"[]", "not a calibration"},
      {"{\"format\": 7}", "not a calibration"},
      {good.substr(0, good.size() / 2), "not a calibration"},
      {with("\"workers\": 2", "\"workers\": 0"), "workers is not a count"},
      {with("\"workers\": 2", "\"workers\": \"2\""), "workers is not a number"},
      {with("\"line_bytes\": 64", "\"line_bytes\": 1e99"), "line_bytes is not a count"},
      {with("\"job_ns\"", "\"jobs\""), "job_ns is not a number"},
      {with("\"memory\": \"coupled\"", "\"memory\": \"no\""), "memory is unknown"},
      {with("\"interference\": 0.0", "\"interference\": -0.5"), "interference is negative"},
      {with("\"devices\"", "\"device\""), "devices is missing"},
      {with("\"worker_units\"", "\"others\""), "worker_units is missing"},
  };
  for (const auto& [text, complaint] : cases) {
    const auto read = ParseCalibration(text);
    ASSERT_FALSE(read) << complaint;
    EXPECT_EQ(read.error().code(), Code::kCorruption);
    EXPECT_NE(read.error().message().find(complaint), std::string::npos)
        << read.error().ToString() << " for " << complaint;
  }
}

TEST(Calibration, OfAnotherVersionIsToBeMadeAgain) {
  std::string text = ToText(TestMachine());
  const std::string version = "\"version\": 5";
  text.replace(text.find(version), version.size(), "\"version\": 1");
  const auto read = ParseCalibration(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kUnsupported);
  EXPECT_NE(read.error().message().find("calibrate again"), std::string::npos);
}

TEST(Calibration, FilesKeepIt) {
  const base::TestFolder folder;
  const std::string path = folder.path() + "/calibration.json";
  EXPECT_EQ(LoadCalibration(path, "x").error().code(), Code::kNotFound);
  Calibration calibration = TestMachine();
  ASSERT_TRUE(SaveCalibration(path, calibration).ok());
  calibration.workers = 3;
  ASSERT_TRUE(SaveCalibration(path, calibration).ok());
  auto read = LoadCalibration(path, calibration.hardware);
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, calibration);
  // A folder is made; a file is none.
  EXPECT_TRUE(SaveCalibration(folder.path() + "/a/new/folder/x", calibration).ok());
  EXPECT_FALSE(SaveCalibration(path + "/x", calibration).ok());
}

TEST(Calibration, OfOtherHardwareIsRefusedWithBothNames) {
  const base::TestFolder folder;
  const std::string path = folder.path() + "/calibration.json";
  ASSERT_TRUE(SaveCalibration(path, TestMachine()).ok());
  const auto read = LoadCalibration(path, "64 x another one");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kInvalidArgument);
  EXPECT_NE(read.error().message().find("64 x another one"), std::string::npos);
  EXPECT_NE(read.error().message().find(TestMachine().hardware), std::string::npos);
  EXPECT_NE(read.error().message().find("weft calibrate"), std::string::npos);
}

TEST(Calibration, HardwareNamesTheDevices) {
  processor::Description device;
  device.name = "opencl:0";
  device.hardware = "something";
  EXPECT_NE(HardwareOf({device}).find("opencl:0 (something)"), std::string::npos);
  EXPECT_NE(HardwareOf({device}), HardwareOf({}));
}

}  // namespace
}  // namespace weft::planner
