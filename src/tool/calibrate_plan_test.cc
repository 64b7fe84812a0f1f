// `weft calibrate` and `weft plan`, one behind the other.
#include <gtest/gtest.h>

#include <sstream>

#include "base/folder_test_kit.h"
#include "base/memory_file_system.h"
#include "planner/calibration.h"
#include "tool/calibrate.h"
#include "tool/plan.h"

namespace weft::tool {
namespace {

class PlannerCommandsTest : public testing::Test {
 protected:
  Exit Run(Exit (*command)(const Console&, const std::vector<std::string>&),
           const std::vector<std::string>& arguments) {
    base::MemoryFileSystem files;
    std::ostringstream out, err;
    const Exit exit = command({&files, out, err}, arguments);
    output = out.str();
    errors = err.str();
    return exit;
  }
  // Of a small store, for no device or the cpu's.
  void Calibrate(const std::string& device) {
    ASSERT_EQ(Run(RunCalibrate,
                  {"--device", device, "--memory-mb", "24", "--threads", "1", "--file", file}),
              Exit::kOk)
        << errors;
  }
  const base::TestFolder folder;
  const std::string file = folder / "calibration.json";
  std::string output, errors;
};

TEST_F(PlannerCommandsTest, SayWhatIsWrongWithTheLine) {
  EXPECT_EQ(Run(RunCalibrate, {"--unknown"}), Exit::kCannotRun);
  EXPECT_NE(errors.find("--unknown"), std::string::npos) << errors;
  EXPECT_EQ(Run(RunCalibrate, {"--device", "no-such-device"}), Exit::kCannotRun);
  EXPECT_NE(errors.find("no-such-device"), std::string::npos) << errors;
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "--workload"},
      {{"--workload", "K17-G95-U"}, "K17-G95-U"},
      {{"--get", "1.5"}, "--get 1.5"},
      {{"--get", "x"}, "--get x"},
      {{"--get", "0.8", "--delete", "0.3"}, "more than 1"},
      {{"--get", "0.8", "--interval-us", "0"}, "--interval-us 0"},
      {{"--get", "0.8", "--batches", "0"}, "--batches"},
      {{"--get", "0.8", "--device", "none", "--calibration", folder / "no"}, "does not exist"},
  };
  for (const auto& [arguments, complaint] : wrong) {
    EXPECT_EQ(Run(RunPlan, arguments), Exit::kCannotRun) << complaint;
    EXPECT_NE(errors.find(complaint), std::string::npos) << errors;
    EXPECT_EQ(output, "");
  }
}

TEST_F(PlannerCommandsTest, CalibrateThenPlan) {
  Calibrate("cpu");
  EXPECT_NE(errors.find("1 of "), std::string::npos) << errors;
  EXPECT_NE(output.find("search"), std::string::npos) << output;
  EXPECT_NE(output.find(file), std::string::npos) << output;
  ASSERT_EQ(Run(RunPlan, {"--workload", "K16-G95-S", "--device", "cpu", "--calibration", file}),
            Exit::kOk)
      << errors;
  EXPECT_NE(output.find("95.0 % GET"), std::string::npos) << output;
  EXPECT_NE(output.find("[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("best: ["), std::string::npos) << output;
  const auto few = std::count(output.begin(), output.end(), '\n');
  ASSERT_EQ(Run(RunPlan, {"--get", "0.9", "--key", "20", "--value", "300", "--skew", "0.9",
                          "--device", "cpu", "--calibration", file, "--all"}),
            Exit::kOk)
      << errors;
  EXPECT_GT(std::count(output.begin(), output.end(), '\n'), few + 30);
}

TEST_F(PlannerCommandsTest, OfOtherHardwareIsRefused) {
  Calibrate("none");
  EXPECT_EQ(Run(RunPlan, {"--workload", "K16-G95-S", "--device", "cpu", "--calibration", file}),
            Exit::kCannotRun);
  EXPECT_NE(errors.find("other hardware"), std::string::npos) << errors;
}

}  // namespace
}  // namespace weft::tool
