// Carriers whose plan changes: which plans each takes, and that batches are carried out by them.
#include "bench/pipeline/carrier.h"

#include <gtest/gtest.h>

#include <string>

#include "cache/cache_test_kit.h"
#include "pipeline/reply_of.h"
#include "processor/cpu_processor.h"

namespace weft::bench {
namespace {

using pipeline::Plan;

constexpr const char* kOnDevice =
    "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu";
constexpr uint32_t kKeysCarried = 100;

// Keeps whether each reply was the key's value.
struct Comparing : pipeline::Sink {
  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
             cache::Session& session) override {
    for (uint32_t i = begin; i < end; ++i)
      right +=
          pipeline::ReplyOf(batch, i, session).value == "value of " + std::string(batch.key(i));
  }
  void RunOther(pipeline::Batch&, uint32_t, cache::Session&) override {}
  uint32_t right = 0;
};

class CarrierPlans : public testing::Test {
 protected:
  void SetUp() override {
    cache::Client client(store_.get());
    for (uint32_t i = 0; i < kKeysCarried; ++i) client.Set(KeyOf(i), "value of " + KeyOf(i));
  }
  static std::string KeyOf(uint32_t i) { return "key " + std::to_string(i); }

  std::unique_ptr<Carrier> Make(const Plan& plan, bool any_plan, bool has_device) {
    CarrierOptions options;
    if (has_device) options.devices = list_;
    options.batches = 2;
    options.queries_max = 128;
    options.value_bytes = 32;
    options.any_plan = any_plan;
    auto carrier = Carrier::Create(store_.get(), plan, options);
    EXPECT_TRUE(carrier) << carrier.error().ToString();
    return std::move(*carrier);
  }
  // A batch of reads, through all of its stages.
  void Read(Carrier* carrier, size_t stages_before_last) {
    const uint32_t flight = carrier->Free();
    ASSERT_NE(flight, Carrier::kNone);
    pipeline::Batch& batch = carrier->batch(flight);
    batch.Clear();
    const uint32_t source = batch.AddSource(INT64_MAX / 2);
    for (uint32_t i = 0; i < kKeysCarried; ++i)
      batch.AddRead(source, 0, KeyOf(i), store_->HashOf(KeyOf(i)));
    carrier->Begin(flight);
    while (carrier->Ready() == Carrier::kNone) {
    }
    EXPECT_EQ(carrier->stage_ticks(flight).size(), stages_before_last);
    Comparing comparing;
    carrier->Finish(flight, comparing);
    EXPECT_EQ(comparing.right, kKeysCarried);
  }

  const std::unique_ptr<cache::Store> store_ = cache::OpenStore({});
  processor::Guard guard_{processor::NewCpuProcessor()};
  processor::Guard* const list_[1] = {&guard_};
  const Plan one_stage_ = Plan::OneStageCpu();
  const Plan on_device_ = Plan::Parse(kOnDevice).value();
};

TEST_F(CarrierPlans, ACarrierForAnyTakesThemInTurns) {
  for (const Plan& first : {one_stage_, on_device_}) {
    const auto carrier = Make(first, true, true);
    ASSERT_NE(carrier->counters(), nullptr);
    EXPECT_EQ(carrier->flights(), 2u);
    for (int turn = 0; turn < 3; ++turn) {
      ASSERT_TRUE(carrier->SetPlan(on_device_, turn == 0).ok());
      ASSERT_NO_FATAL_FAILURE(Read(carrier.get(), 2));
      ASSERT_TRUE(carrier->SetPlan(one_stage_, true).ok());
      ASSERT_NO_FATAL_FAILURE(Read(carrier.get(), 0));
    }
    EXPECT_EQ(carrier->counters()->device_batches.value(), 3u);
  }
}

TEST_F(CarrierPlans, OneForTheOneStagePlanTakesNoOther) {
  for (const bool has_device : {false, true}) {
    const auto carrier = Make(one_stage_, !has_device, has_device);
    EXPECT_EQ(carrier->counters(), nullptr);
    EXPECT_EQ(carrier->SetPlan(on_device_, true).code(), Code::kInvalidArgument);
    EXPECT_TRUE(carrier->SetPlan(one_stage_, false).ok());
    ASSERT_NO_FATAL_FAILURE(Read(carrier.get(), 0));
  }
}

TEST_F(CarrierPlans, OneForAnotherPlanTakesWhatItsBatchesFit) {
  const auto carrier = Make(on_device_, false, true);
  ASSERT_TRUE(carrier->SetPlan(one_stage_, true).ok());
  ASSERT_NO_FATAL_FAILURE(Read(carrier.get(), 0));
  const Plan other =
      Plan::Parse("[RV PP MM]cpu -> [IN.search KC RD]gpu1 -> [IN.insert IN.delete WR SD]cpu")
          .value();
  EXPECT_EQ(carrier->SetPlan(other, true).code(), Code::kInvalidArgument);
  ASSERT_NO_FATAL_FAILURE(Read(carrier.get(), 0));
}

}  // namespace
}  // namespace weft::bench
