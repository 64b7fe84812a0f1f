#include "bench/harness/gpu_meter.h"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

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
  const auto before = (*meter)->Joules();
  const auto after = (*meter)->Joules();
  if (!before || !after) return;
  EXPECT_LE(*before, *after);
}

TEST(GpuMeter, ThereIsNoSuchGpu) {
  EXPECT_EQ(Code::kUnsupported, GpuMeter::Open(-1).error().code());
  EXPECT_EQ(Code::kUnsupported, GpuMeter::Open(1000).error().code());
}

}  // namespace
}  // namespace weft::bench
