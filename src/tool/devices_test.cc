#include "tool/devices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/folder_test_kit.h"
#include "base/memory_file_system.h"

namespace weft::tool {
namespace {

class DevicesCommandTest : public testing::Test {
 protected:
  Exit Run(const std::vector<std::string>& arguments) {
    base::MemoryFileSystem files;
    std::ostringstream out, err;
    const Exit exit = RunDevices({&files, out, err}, arguments);
    output = out.str();
    errors = err.str();
    return exit;
  }
  std::string output, errors;
};

TEST_F(DevicesCommandTest, SaysWhatIsWrongWithTheLine) {
  EXPECT_EQ(Run({"--unknown"}), Exit::kCannotRun);
  EXPECT_NE(errors.find("--unknown"), std::string::npos) << errors;
  EXPECT_EQ(output, "");
  EXPECT_EQ(Run({"--help"}), Exit::kOk);
  EXPECT_NE(output.find("devices"), std::string::npos) << output;
}

// Sanitized builds: the drivers' own compilers leak memory.
#ifndef WEFT_SANITIZED
TEST_F(DevicesCommandTest, ListsAndTestsTheCpu) {
  const base::TestFolder cache;  // of what PoCL compiles, where it is installed
  setenv("POCL_CACHE_DIR", cache.path().c_str(), 1);
  EXPECT_EQ(Run({}), Exit::kOk);
  EXPECT_TRUE(output.starts_with("device")) << output;
  const size_t cpu = output.find("\ncpu ");
  ASSERT_NE(cpu, std::string::npos) << output;
  EXPECT_NE(output.find("passed in ", cpu), std::string::npos) << output;
  EXPECT_EQ(Run({"--json"}), Exit::kOk);
  EXPECT_NE(output.find("{\"name\": \"cpu\""), std::string::npos) << output;
  EXPECT_NE(output.find("\"usable\": true"), std::string::npos) << output;
}
#endif

}  // namespace
}  // namespace weft::tool
