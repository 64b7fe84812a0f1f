#include "compaction/device/executors.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "compaction/device/executor_test_kit.h"

namespace weft::compaction::device {
namespace {

constexpr const char* kVariable = "WEFT_COMPACTION_CUDA_MODULE";

class Executors : public testing::Test {
 protected:
  ~Executors() override { unsetenv(kVariable); }
};

TEST_F(Executors, KnowsItsNames) {
  for (const char* name : {"cpu", "auto", "plain", "cuda:0", "cuda:17"}) {
    EXPECT_TRUE(CheckName(name).ok()) << name;
  }
  for (const char* name : {"", "CPU", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:64"}) {
    EXPECT_EQ(Code::kInvalidArgument, CheckName(name).code()) << name;
    EXPECT_EQ(Code::kInvalidArgument, NewExecutorOn(name).error().code()) << name;
  }
}

TEST_F(Executors, SaysWhyThereIsNoDevice) {
  setenv(kVariable, "/nowhere/module.so", 1);
  Result<std::unique_ptr<Executor>> executor = NewExecutorOn("cuda:0");
  ASSERT_FALSE(executor.has_value());
  EXPECT_EQ(Code::kUnsupported, executor.error().code());
  EXPECT_NE(std::string::npos, executor.error().message().find("/nowhere/module.so"));
  setenv(kVariable, "libm.so.6", 1);
  executor = NewExecutorOn("cuda:0");
  ASSERT_FALSE(executor.has_value());
  EXPECT_NE(std::string::npos, executor.error().message().find("is not Weft's module"));
}

TEST_F(Executors, AutoIsTheCpuWhereThereIsNoDevice) {
  setenv(kVariable, "/nowhere/module.so", 1);
  Result<std::unique_ptr<Executor>> executor = NewExecutorOn("auto");
  ASSERT_TRUE(executor.has_value());
  EXPECT_STREQ("cpu", (*executor)->Name());
}

TEST_F(Executors, SayWhoDidIt) {
  JobKit kit;
  kit.AddRun({Put("a", 1), Put("b", 2)});
  for (const char* name : {"cpu", "plain"}) {
    Result<std::unique_ptr<Executor>> executor = NewExecutorOn(name);
    ASSERT_TRUE(executor.has_value());
    EXPECT_STREQ(name, (*executor)->Name());
    const JobResult result = (*executor)->Run(kit.job(), kit.host());
    EXPECT_TRUE(result.status.ok());
    EXPECT_STREQ(name, result.done_by);
    EXPECT_EQ("", result.left_to_cpu);
  }
}

}  // namespace
}  // namespace weft::compaction::device
