#include "server/background_calibrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/folder_test_kit.h"
#include "processor/devices.h"

namespace weft::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMiB = 1 << 20;

TEST(ScratchSizes, AreAPartOfTheMemoryOrTheLeast) {
  constexpr uint64_t kPlenty = 64ull << 30;
  EXPECT_THAT(ScratchSizes(64 * kMiB, 4, kPlenty), ElementsAre(64 * kMiB));
  EXPECT_THAT(ScratchSizes(256 * kMiB, 4, kPlenty), ElementsAre(64 * kMiB));
  EXPECT_THAT(ScratchSizes(1024 * kMiB, 4, kPlenty), ElementsAre(256 * kMiB, 64 * kMiB));
  EXPECT_THAT(ScratchSizes(kPlenty, 4, kPlenty), ElementsAre(2048 * kMiB, 64 * kMiB));
  EXPECT_THAT(ScratchSizes(kPlenty, 4, 300 * kMiB), ElementsAre(64 * kMiB));
  EXPECT_THAT(ScratchSizes(64 * kMiB, 64, kPlenty), IsEmpty());
}

// A server's parts, with one worker that serves nothing.
class Calibrating : public ::testing::Test {
 protected:
  Calibrating() {
    CacheOptions cache;
    cache.memory_bytes = 512 * kMiB;
    store_ = std::move(cache::Store::Open(cache).value());
    planner::Planner::Options options;
    options.conditions.workers = 1;
    options.profile.batch_queries = 1;
    options.profile.objects = 1;
    planner_ = std::make_unique<planner::Planner>(options, store_.get());
    how_.path = folder_ / "calibration.json";
    how_.memory_bytes = 64 * kMiB;
    how_.seconds = 0.001;
    how_.open_device = [this]() -> Result<std::unique_ptr<processor::Guard>> {
      opened_++;
      auto device = processor::OpenNamed("cpu");
      if (!device) return device.error();
      return std::make_unique<processor::Guard>(std::move(*device));
    };
    how_.activity = [] { return uint64_t{0}; };
  }
  void Make() {
    calibrator_ = std::make_unique<BackgroundCalibrator>(how_, store_.get(), planner_.get());
  }
  bool IsOver() const {
    const std::string state = calibrator_->State();
    return state != "waiting" && !state.starts_with("under way");
  }
  void Measure() {
    Make();
    calibrator_->Start();
    while (!IsOver()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bool IsKept() const { return std::filesystem::exists(how_.path); }

  base::TestFolder folder_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<planner::Planner> planner_;
  BackgroundCalibrator::Options how_;
  std::atomic<int> opened_{0};
  std::unique_ptr<BackgroundCalibrator> calibrator_;
};

TEST_F(Calibrating, GivesFiguresToThePlannerAndKeepsThem) {
  Make();
  EXPECT_EQ(calibrator_->State(), "waiting");
  EXPECT_EQ(planner_->candidates().size(), 1u);
  Measure();
  EXPECT_GT(planner_->candidates().size(), 1u);
  std::ifstream file(how_.path);
  std::ostringstream text;
  text << file.rdbuf();
  auto kept = planner::ParseCalibration(text.str());
  ASSERT_TRUE(kept) << kept.error().ToString();
  EXPECT_EQ(calibrator_->State(), kept->date);
  EXPECT_EQ(kept->scratch_bytes, planner::ScratchBytesMin(1));
}

TEST_F(Calibrating, EndsWhenTheServerDoes) {
  // It rests behind every turn, and is told to stop in such a rest or turn.
  std::atomic<uint64_t> activity{0};
  how_.activity = [&activity] { return ++activity; };
  Make();
  calibrator_->Start();
  while (activity < 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  calibrator_->Stop();
  EXPECT_EQ(calibrator_->State(), "stopped");
  EXPECT_FALSE(IsKept());
  EXPECT_EQ(planner_->candidates().size(), 1u);
}

TEST_F(Calibrating, MayBeStoppedBeforeItStarts) {
  Make();
  calibrator_->Stop();
  calibrator_.reset();
  EXPECT_EQ(opened_, 0);
}

TEST_F(Calibrating, LeavesOneStageWhereItFails) {
  how_.open_device = []() -> Result<std::unique_ptr<processor::Guard>> {
    return Status(Code::kDeviceLost, "it is gone");
  };
  Measure();
  EXPECT_THAT(calibrator_->State(), HasSubstr("failed: device lost: it is gone"));
  EXPECT_FALSE(IsKept());
  EXPECT_EQ(planner_->candidates().size(), 1u);
}

TEST_F(Calibrating, WhatThrowsEndsNoServer) {
  how_.open_device = []() -> Result<std::unique_ptr<processor::Guard>> {
    std::string().reserve(SIZE_MAX);
    return Status(Code::kUnsupported, "this system has room for anything");
  };
  Measure();
  EXPECT_THAT(calibrator_->State(), HasSubstr("failed: no memory: the measurement failed"));
}

TEST_F(Calibrating, PlansAreChosenThoughNothingCanBeKept) {
  how_.path = "/dev/null/calibration.json";
  Measure();
  EXPECT_GT(planner_->candidates().size(), 1u);
}

TEST_F(Calibrating, GivesTheStoreItsMemoryBack) {
  how_.memory_bytes = 512 * kMiB;
  ASSERT_EQ(ScratchSizes(how_.memory_bytes, 1, 64ull << 30).size(), 2u);
  ASSERT_TRUE(store_->SetMemoryLimit(store_->Stats().memory_bytes + 64 * kMiB).ok());
  Measure();
  EXPECT_EQ(opened_, 2) << "once for each size";
  EXPECT_GT(planner_->candidates().size(), 1u);
}

TEST_F(Calibrating, NeedsSomeMemory) {
  how_.memory_bytes = 32 * kMiB;
  how_.workers = 64;
  Measure();
  EXPECT_THAT(calibrator_->State(), HasSubstr("more than -m"));
  EXPECT_EQ(opened_, 0);
}

}  // namespace
}  // namespace weft::server
