// Calibration that keeps to a guest's rules.
#include "planner/guest_rules.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "planner/calibrator.h"
#include "planner/synthetic_load.h"
#include "processor/devices.h"

namespace weft::planner {
namespace {

struct Guest {
  Guest() : device(std::move(processor::OpenNamed("cpu").value())) {
    rules.scratch_bytes = ScratchBytesMin(1);
    options.seconds = 0.001;
    options.devices = {&device};
    options.guest = &rules;
  }

  processor::Guard device;
  GuestRules rules;
  CalibratorOptions options;
};

TEST(GuestRules, TheWholeIsMeasuredInSmallTurns) {
  Guest guest;
  int turns = 0;
  guest.rules.before_turn = [&turns] {
    turns++;
    return Status::Ok();
  };
  auto calibration = Calibrate(guest.options);
  ASSERT_TRUE(calibration) << calibration.error().ToString();
  EXPECT_GT(turns, 30);  // some measures take one turn alone on a slow machine
  EXPECT_EQ(calibration->scratch_bytes, guest.rules.scratch_bytes);
  EXPECT_EQ(calibration->devices.size(), 1u);
  auto read = ParseCalibration(ToText(*calibration));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, *calibration);
}

TEST(GuestRules, AnErrorBeforeATurnEndsIt) {
  Guest guest;
  int turns = 0;
  guest.rules.before_turn = [&turns]() -> Status {
    if (++turns < 20) return {};
    return {Code::kNoMemory, "others need it"};
  };
  auto calibration = Calibrate(guest.options);
  ASSERT_FALSE(calibration);
  EXPECT_EQ(calibration.error().message(), "others need it");
  EXPECT_EQ(turns, 20) << "none behind it";
}

TEST(GuestRules, AStopEndsItWithTheTurn) {
  Guest guest;
  int turns = 0;
  guest.rules.before_turn = [&]() -> Status {
    if (++turns == 20) guest.rules.stop = true;
    return {};
  };
  auto calibration = Calibrate(guest.options);
  ASSERT_FALSE(calibration);
  EXPECT_EQ(calibration.error().code(), Code::kRetryLater);
  EXPECT_EQ(turns, 20);
}

// Begins what it is given and never ends it.
class Hanging final : public processor::Processor {
 public:
  Hanging() { description_.name = "hanging:0"; }
  const processor::Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }
  Status Start(processor::Job* job) override {
    job->Begin();
    if (stop_at_start != nullptr) stop_at_start->store(true);
    return Status::Ok();
  }
  std::atomic<bool>* stop_at_start = nullptr;

 private:
  processor::Description description_;
};

struct HangingLoad {
  HangingLoad() {
    auto made = std::make_unique<Hanging>();
    hanging = made.get();
    device = std::make_unique<processor::Guard>(std::move(made));
    rules.scratch_bytes = 1 << 20;
    LoadOptions options;
    options.memory_bytes = 64 << 20;
    options.workers = 1;
    options.devices = {device.get()};
    options.guest = &rules;
    load = std::move(SyntheticLoad::Open(options).value());
    jobs.device = device.get();
    jobs.tasks = kRunSearch;
    jobs.queries = 64;
    jobs.seconds = 0.001;
  }

  Hanging* hanging = nullptr;
  std::unique_ptr<processor::Guard> device;
  GuestRules rules;
  JobTraffic jobs;
  std::unique_ptr<SyntheticLoad> load;  // after what it is given
};

TEST(GuestRules, AJobThatNeverEndsIsLeft) {
  HangingLoad of;
  of.jobs.job_ms_max = 20;
  auto figures = of.load->RunJobs(of.jobs);
  ASSERT_FALSE(figures);
  EXPECT_EQ(figures.error().code(), Code::kDeviceLost);
  EXPECT_TRUE(of.device->has_left_jobs());
  EXPECT_FALSE(of.device->usable());
  EXPECT_FALSE(of.load->RunJobs(of.jobs)) << "it is retired";
}

TEST(GuestRules, AStopWaitsShortlyForAJobThatNeverEnds) {
  HangingLoad of;
  of.jobs.job_ms_max = 1'000'000'000;
  of.hanging->stop_at_start = &of.rules.stop;
  EXPECT_FALSE(of.load->RunJobs(of.jobs));
  EXPECT_TRUE(of.device->has_left_jobs());
}

TEST(GuestRules, AStopEndsTheFilling) {
  GuestRules rules;
  rules.scratch_bytes = 1 << 20;
  rules.stop = true;
  LoadOptions options;
  options.memory_bytes = 64 << 20;
  options.guest = &rules;
  auto load = SyntheticLoad::Open(options);
  ASSERT_FALSE(load);
  EXPECT_EQ(load.error().code(), Code::kRetryLater);
}

}  // namespace
}  // namespace weft::planner
