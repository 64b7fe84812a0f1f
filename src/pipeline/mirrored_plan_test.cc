// Plans on a device that has memory of its own: processor/mirror.h under the pipeline.
#include "pipeline/mirrored_plan_scenes.h"
#include "processor/plain_mirror.h"

namespace weft::pipeline {
namespace {

std::unique_ptr<processor::Processor> Make(uint32_t segments_max) {
  return processor::NewMirrorProcessor(segments_max);
}

TEST(MirroredPlan, DoesWhatTheOneStagePlanDoes) {
  uint64_t gathered = 0;
  PlayReadingPlans(Make, 150, &gathered);
  EXPECT_GT(gathered, 100u) << "the mirror answered next to nothing";
}

TEST(MirroredPlan, PlansOfFourStagesDoToo) { PlayPlansOfFourStages(Make, 60); }
TEST(MirroredPlan, SegmentsThatAreFilledAnewNeverShowAnOldValue) {
  uint64_t gathered = 0;
  PlaySegmentsFilledAnew(Make, 10, &gathered);
  EXPECT_GT(gathered, 500u);
}
TEST(MirroredPlan, AKeyInItsOldPlaceIsNotItsOldVersion) { PlayKeysInOldPlaces(Make, 4); }

TEST(MirroredPlan, ADeviceCantChangeItsMirror) {
  Devices devices(Make(UINT32_MAX));
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  const auto runner = PlanRunner::Create(
      store.get(), &times,
      PlanOf("[RV PP MM]cpu → [IN.search IN.insert]gpu0 → [IN.delete KC RD WR SD]cpu"),
      devices.list(), {});
  ASSERT_FALSE(runner.has_value());
  EXPECT_EQ(runner.error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::pipeline
