#include "bench/harness/cpu_load.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/idle_cpus.h"

namespace weft::bench {
namespace {

TEST(CpuLoad, NoneNeedsNothing) {
  auto load = CpuLoad::Start(0);
  ASSERT_TRUE(load.has_value());
  EXPECT_TRUE((*load)->Check().ok());
}

TEST(CpuLoad, AShareIsUpToAllOfIt) {
  EXPECT_EQ(Code::kInvalidArgument, CpuLoad::Start(-1).error().code());
  EXPECT_EQ(Code::kInvalidArgument, CpuLoad::Start(101).error().code());
}

TEST(CpuLoad, SaysThatStressNgIsMissing) {
  const char* const path = std::getenv("PATH");
  const std::string kept = path == nullptr ? "" : path;
  setenv("PATH", "/nowhere:/nor-here", 1);
  EXPECT_NE("", CpuLoad::WhyUnavailable());
  EXPECT_EQ(Code::kUnsupported, CpuLoad::Start(50).error().code());
  setenv("PATH", kept.c_str(), 1);
}

TEST(CpuLoad, TakesCpus) {
  if (const std::string why = CpuLoad::WhyUnavailable(); !why.empty()) GTEST_SKIP() << why;
  base::IdleCpus idle;
  const double all = idle.Count();
  auto load = CpuLoad::Start(100);
  ASSERT_TRUE(load.has_value()) << load.error().ToString();
  EXPECT_GT(all, idle.Count());
  EXPECT_TRUE((*load)->Check().ok());
}

}  // namespace
}  // namespace weft::bench
