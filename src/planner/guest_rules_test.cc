// Calibration that keeps to a guest's rules.
#include "planner/guest_rules.h"

#include <gtest/gtest.h>

#include <string>

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
  EXPECT_GT(turns, 100);
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
