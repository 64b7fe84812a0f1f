// What a GPU's memory may do to a compaction. A program of its own: a number that flips may cost
// the device, which is lost then until the program ends.
#include <gtest/gtest.h>

#include "compaction/cuda/cuda_device.cuh"
#include "compaction/device/device_executor.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/flipping_device_test_kit.h"

namespace weft::compaction::device {
namespace {

using Flipping = FlippingDevice<CudaDevice>;

constexpr uint64_t kPieceBytes = 7000;  // of FillForFaults several

std::unique_ptr<Executor> NewExecutor(const Flip& flip, FlipCounts* counts) {
  Result<std::shared_ptr<CudaPool>> pool = CudaPool::Of(0);
  if (!pool) return nullptr;
  return std::make_unique<DeviceExecutor<Flipping>>(
      "cuda:0", kPieceBytes, [=, pool = *pool]() -> Result<std::unique_ptr<Flipping>> {
        Result<std::unique_ptr<CudaDevice>> device = CudaDevice::Create(pool);
        if (!device) return device.error();
        return std::make_unique<Flipping>(std::move(*device), flip, counts);
      });
}

class CudaFlips : public testing::Test {
 protected:
  CudaFlips() : policy_(NewBloomFilterPolicy(10)) {
    FillForFaults(&kit_);
    kit_.job().format.filter = &policy_;
  }

  // How many of `jobs`, a flip each, were left to the CPU; all have the CPU's files.
  void Play(uint64_t jobs, bool bytes_only) {
    table::Strings strings(table::TestSeed() + (bytes_only ? 0 : 1));
    FlipCounts whole;
    const auto executor = NewExecutor({}, &whole);
    ASSERT_NE(nullptr, executor);
    const Both sound = RunBoth(&kit_, executor.get());
    ExpectSame(&kit_, sound);
    ASSERT_EQ("", sound.device.left_to_cpu);
    uint64_t found = 0;
    for (uint64_t i = 0; i < jobs && !HasFailure(); i++) {
      const Flip flip{.before_run = strings.Below(whole.runs),
                      .random = strings.Below(~0ull),
                      .bytes_only = bytes_only};
      SCOPED_TRACE("run " + std::to_string(flip.before_run) + ", random " +
                   std::to_string(flip.random));
      FlipCounts counts;
      const auto flipping = NewExecutor(flip, &counts);
      if (flipping == nullptr) break;  // a number that a kernel believed has cost the device
      const Both both = RunBoth(&kit_, flipping.get());
      ExpectSame(&kit_, both);
      found += both.device.left_to_cpu.empty() ? 0 : 1;
    }
    EXPECT_LT(0u, found) << "nothing that flipped mattered: this shows nothing";
  }

  JobKit kit_;
  const table::InternalFilterPolicy policy_;
};

TEST_F(CudaFlips, WhatFlipsInBytesIsFound) { Play(100, true); }

TEST_F(CudaFlips, WhatFlipsInNumbersIsFound) { Play(30, false); }

}  // namespace
}  // namespace weft::compaction::device
