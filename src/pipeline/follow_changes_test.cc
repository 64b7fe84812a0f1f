// When a batch's changes are done for whoever follows them (processor/mirror/mirror.h): long before
// it ends.
#include "pipeline/plan_test_kit.h"
#include "processor/mirror/mirror_test_kit.h"

namespace weft::pipeline {
namespace {

constexpr uint32_t kQueries = 4 * CpuStage::kGroupQueries;

std::string KeyOf(uint32_t i) { return "key" + std::to_string(i); }

class FollowChanges : public testing::Test {
 protected:
  void SetUp() override {
    for (uint32_t i = 0; i < kQueries; i++) client_.Set(KeyOf(i), "v");
    mirror_ = std::make_unique<processor::StepMirror>(store_.get());
    mirror_->CatchUp();
  }

  // One store of each key.
  void FillWithStores(Batch* batch) {
    batch->Clear();
    batch->AddSource(kMuchRoom);
    for (uint32_t i = 0; i < kQueries; i++) {
      const std::string key = KeyOf(i);  // until the batch has its copy
      Command command = Client::Of(Verb::kStore, key);
      command.value = "w";
      command.hash = store_->HashOf(command.key);
      batch->AddCommand(0, i, command);
    }
  }

  const std::unique_ptr<cache::Store> store_ = OpenStore(WeakHash(64));
  Client client_{store_.get()};
  TaskTimes times_;
  std::unique_ptr<processor::StepMirror> mirror_;
};

// Advances a mirror whenever a group of queries is answered.
struct Following : Sink {
  explicit Following(processor::StepMirror* with) : mirror(with) {}
  void Write(Batch&, uint32_t begin, uint32_t end, cache::Session&) override {
    EXPECT_EQ(mirror->LinesOfAdvance(), end - begin) << "each group's changes, once";
    groups++;
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}

  processor::StepMirror* const mirror;
  uint32_t groups = 0;
};

TEST_F(FollowChanges, WithEachGroupOfTheOneStagePlan) {
  auto batch = Batch::Create(Plan::OneStageCpu(), {});
  ASSERT_TRUE(batch.has_value());
  FillWithStores(batch->get());
  CpuStage stage(store_.get(), &times_);
  Following following(mirror_.get());
  const auto session = store_->NewSession();
  stage.Run(**batch, *session, following);
  EXPECT_EQ(following.groups, 4u);
  EXPECT_EQ(mirror_->LinesOfAdvance(), 0u);
  EXPECT_EQ(mirror_->StaleLines(), 0u);
}

TEST_F(FollowChanges, WithEachStageOnTheCpu) {
  auto runner = PlanRunner::Create(
      store_.get(), &times_,
      PlanOf("[RV PP MM]cpu → [IN.search KC IN.insert]cpu → [RD IN.delete WR SD]cpu"), {}, {});
  ASSERT_TRUE(runner.has_value()) << runner.error().ToString();
  BatchRun* const run = (*runner)->Free();
  FillWithStores(&run->batch());
  (*runner)->Begin(run);
  EXPECT_TRUE(run->session().inside());
  uint32_t stored = 0;  // others share a byte of their hash
  for (uint32_t i = 0; i < kQueries; i++) stored += run->batch().result(i) == kResultStored;
  EXPECT_GT(stored, kQueries / 2);
  EXPECT_EQ(mirror_->LinesOfAdvance(), stored);
  EXPECT_EQ(mirror_->StaleLines(), 0u);
  EXPECT_EQ(mirror_->LinesOfAdvance(), 0u) << "done, though the batch is under way";
}

}  // namespace
}  // namespace weft::pipeline
