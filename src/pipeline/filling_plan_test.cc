// Batches in a store whose holes are filled (cache/holes.h), under plans of the CPU alone.
#include "pipeline/plan_test_kit.h"

namespace weft::pipeline {
namespace {

class FillingPlan : public testing::Test {
 protected:
  static constexpr uint32_t kKeys = 4 * CpuStage::kGroupQueries;

  // All keys are equally long, and all values.
  static std::string KeyOf(uint32_t i) { return "key" + std::to_string(1000 + i); }
  static std::string ValueOf(uint32_t i, uint32_t round) {
    return std::to_string(100'000 + 100 * i + round);
  }
  void SetUp() override {
    for (uint32_t round = 0; round < 5; round++)
      for (uint32_t i = 0; i < kKeys; i++) client_.Set(KeyOf(i), ValueOf(i, round));
  }
  uint64_t Shown(uint32_t i) { return client_.Gets(KeyOf(i)).reply.cas; }

  const std::unique_ptr<cache::Store> store_ = cache::OpenFillingStore(WeakHash(64));
  Client client_{store_.get()};
};

TEST_F(FillingPlan, OverwritingInOneStageTakesNoRoom) {
  Runner runner(store_.get());
  uint64_t holes = 0;  // what is appended leaves one more
  for (uint32_t round = 0; round < 20; round++) {
    if (round == 5) holes = runner.session().hole_units();
    std::vector<std::string> values;
    for (uint32_t i = 0; i < kKeys; i++) values.push_back(ValueOf(i, round));
    for (uint32_t i = 0; i < kKeys; i++) {
      runner.Read(KeyOf(i));
      runner.Set(KeyOf(i), values[i]);
    }
    runner.Run();
    for (uint32_t i = 0; i < kKeys; i++) {
      const std::string before = ValueOf(i, round == 0 ? 4 : round - 1);
      EXPECT_EQ(runner.result(size_t{2} * i).value, before);
      EXPECT_EQ(runner.result(size_t{2} * i + 1).reply.outcome, Outcome::kStored);
    }
  }
  EXPECT_GT(holes, 0u);
  EXPECT_EQ(runner.session().hole_units(), holes);
  for (uint32_t i = 0; i < kKeys; i++) EXPECT_EQ(client_.Value(KeyOf(i)), ValueOf(i, 19));
}

struct Unseen : Sink {
  void Write(Batch&, uint32_t, uint32_t, cache::Session&) override {}
  void RunOther(Batch&, uint32_t, cache::Session&) override {}
};

// A stage before the last stores without a look at what clients were shown.
TEST_F(FillingPlan, VersionsRiseAlsoBehindAStageThatStores) {
  std::vector<uint64_t> shown;
  for (uint32_t i = 0; i < kKeys; i++) {
    Shown(i);
    client_.Set(KeyOf(i), ValueOf(i, 5));
    shown.push_back(Shown(i));
  }
  TaskTimes times;
  auto runner = PlanRunner::Create(
      store_.get(), &times,
      PlanOf("[RV PP MM]cpu → [IN.search KC IN.insert]cpu → [RD IN.delete WR SD]cpu"), {}, {});
  ASSERT_TRUE(runner.has_value()) << runner.error().ToString();
  BatchRun* const run = (*runner)->Free();
  run->batch().Clear();
  run->batch().AddSource(kMuchRoom);
  std::vector<std::string> values;
  for (uint32_t i = 0; i < kKeys; i++) values.push_back(ValueOf(i, 6));
  for (uint32_t i = 0; i < kKeys; i++) {
    const std::string key = KeyOf(i);  // until the batch has its copy
    Command command = Client::Of(Verb::kStore, key);
    command.value = values[i];
    command.hash = store_->HashOf(command.key);
    run->batch().AddCommand(0, i, command);
  }
  (*runner)->Begin(run);
  while ((*runner)->Ready() == nullptr) (*runner)->Wait();
  Unseen sink;
  (*runner)->Finish((*runner)->Ready(), sink);
  for (uint32_t round = 7; round < 12; round++)
    for (uint32_t i = 0; i < kKeys; i++)
      ASSERT_EQ(client_.Set(KeyOf(i), ValueOf(i, round)), Outcome::kStored);
  for (uint32_t i = 0; i < kKeys; i++) EXPECT_GT(Shown(i), shown[i]) << i;
}

}  // namespace
}  // namespace weft::pipeline
