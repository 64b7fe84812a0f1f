// Plans whose reads run on a CUDA device: what the plain mirror goes through, on the real one. All
// skip where there is no device. WEFT_SMALL=1 plays a tenth, for a checker that is slow.
#include <cstdlib>
#include <string>

#include "pipeline/shared_batch_test_kit.h"
#include "processor/cuda_devices.h"
#include "processor/devices.h"
#include "processor/faulty_processor.h"

namespace weft::pipeline {
namespace {

// Small stores have segments of this size.
constexpr uint64_t kSegmentBytes = 64u << 10;

std::unique_ptr<processor::Processor> Make(uint32_t segments_max) {
  const uint64_t mib = segments_max * kSegmentBytes >> 20;
  if (segments_max == UINT32_MAX) {
    unsetenv("WEFT_CUDA_OBJECTS_MB");
  } else {
    setenv("WEFT_CUDA_OBJECTS_MB", std::to_string(mib).c_str(), 1);
  }
  auto opened = processor::OpenCuda(0);
  EXPECT_TRUE(opened.has_value()) << opened.error().ToString();
  return std::move(*opened);
}

class CudaPlan : public testing::Test {
 protected:
  void SetUp() override {
    const auto list = processor::ListCuda();
    if (list.empty() || !list[0].unusable.empty())
      GTEST_SKIP() << (list.empty() ? "no CUDA device" : list[0].unusable);
  }
};

TEST_F(CudaPlan, TheDevicePassesItsSelfTestAgainAndAgain) {
  for (uint32_t i = 0; i < cache::Rounds(20); i++) {
    auto opened = processor::OpenDevice("cuda:0");
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
  }
}

TEST_F(CudaPlan, DoesWhatTheOneStagePlanDoes) {
  uint64_t gathered = 0;
  PlayPlansOfThreeStages(Make, 60, &gathered, 20);
  EXPECT_GT(gathered, 20u) << "the device answered next to nothing";
}
TEST_F(CudaPlan, PlansOfFourStagesDoToo) { PlayPlansOfFourStages(Make, 30); }
TEST_F(CudaPlan, TheWorkerTakesSetsOfWhatTheDeviceHasNotBegun) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatches(Make, 5, &counts); }, &counts);
  counts.ExpectSharedWithoutFailures();
}
TEST_F(CudaPlan, SharedReadsBesideAWriterAreNeverOld) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatchesBesideAWriter(Make, 20, &counts); }, &counts);
  counts.ExpectSharedWithoutFailures();
}
TEST_F(CudaPlan, SegmentsThatAreFilledAnewNeverShowAnOldValue) {
  uint64_t gathered = 0;
  PlaySegmentsFilledAnew(Make, 6, &gathered);
  EXPECT_GT(gathered, 50u);
}
TEST_F(CudaPlan, AKeyInItsOldPlaceIsNotItsOldVersion) { PlayKeysInOldPlaces(Make, 10); }

// Jobs that fail, and a device that is lost, in the middle of everything.
TEST_F(CudaPlan, ADeviceThatFailsLosesNothing) {
  const auto failing = [](uint32_t segments_max) {
    processor::Faults faults;
    faults.fail_every = 5;
    return processor::NewFaultyProcessor(Make(segments_max), faults);
  };
  uint64_t gathered = 0;
  PlayPlansOfThreeStages(failing, 20, &gathered);
}
TEST_F(CudaPlan, ADeviceThatIsLostLosesNothing) {
  const auto lost = [](uint32_t segments_max) {
    processor::Faults faults;
    faults.lose_at = 3;
    return processor::NewFaultyProcessor(Make(segments_max), faults);
  };
  uint64_t gathered = 0;
  PlayPlansOfThreeStages(lost, 20, &gathered);
}

// Where it has no memory for objects the index is there, and no value.
TEST_F(CudaPlan, ADeviceWithoutMemoryLeavesItAllToTheCpu) {
  const auto starving = [](uint32_t) { return Make(0); };
  uint64_t gathered = 0;
  PlayPlansOfThreeStages(starving, 10, &gathered);
  EXPECT_EQ(gathered, 0u);
  PlaySegmentsFilledAnew(starving, 1, &gathered);
  EXPECT_EQ(gathered, 0u);
}

}  // namespace
}  // namespace weft::pipeline
