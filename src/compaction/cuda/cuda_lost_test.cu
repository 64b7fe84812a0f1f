// What becomes of a job when the GPU is lost in the middle of it. A program of its own: what is
// lost stays so until it ends.
#include <gtest/gtest.h>

#include "compaction/cuda/cuda_device.cuh"
#include "compaction/device/device_executor.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/flipping_device_test_kit.h"

namespace weft::compaction::device {
namespace {

using Flipping = FlippingDevice<CudaDevice>;

constexpr uint64_t kPieceBytes = 7000;  // of FillForFaults several

__global__ void Trap() { asm("trap;"); }

TEST(CudaLost, ADeviceThatIsLostInTheMiddleLosesNothing) {
  JobKit kit;
  FillForFaults(&kit);
  const table::InternalFilterPolicy policy(NewBloomFilterPolicy(10));
  kit.job().format.filter = &policy;
  Result<std::shared_ptr<CudaPool>> pool = CudaPool::Of(0);
  ASSERT_TRUE(pool) << pool.error().ToString();
  FlipCounts counts;
  const Flip loss{.before_run = 150, .instead = [] { Trap<<<1, 1>>>(); }};
  DeviceExecutor<Flipping> executor(
      "cuda:0", kPieceBytes, [&]() -> Result<std::unique_ptr<Flipping>> {
        Result<std::unique_ptr<CudaDevice>> device = CudaDevice::Create(*pool);
        if (!device) return device.error();
        return std::make_unique<Flipping>(std::move(*device), loss, &counts);
      });
  for (int i = 0; i < 3; i++) {
    const Both both = RunBoth(&kit, &executor);
    ExpectSame(&kit, both);
    EXPECT_NE("", both.device.left_to_cpu);
    EXPECT_EQ(both.cpu.outputs.size() * 2 * static_cast<size_t>(i + 1), kit.OutputFiles());
  }
  EXPECT_LT(150u, counts.runs);
}

}  // namespace
}  // namespace weft::compaction::device
