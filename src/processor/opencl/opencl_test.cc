// The OpenCL processor on whatever OpenCL device is installed, PoCL in the project's own runs.
#include "processor/opencl/opencl.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "processor/opencl/device_test_kit.h"
#include "processor/trial.h"

namespace weft::processor {
namespace {

std::string KeyOfTrial(uint32_t i) { return "key" + std::to_string(i); }

std::unique_ptr<Trial> NewTrial(Processor* device, uint32_t queries_max = 4096) {
  Trial::Shape shape;
  shape.queries_max = queries_max;
  auto trial = Trial::Create(device->pages(), shape);
  EXPECT_TRUE(trial) << trial.error().ToString();
  return std::move(*trial);
}

void StoreKeys(Trial* trial, uint32_t count, const std::string& value) {
  trial->Begin();
  for (uint32_t i = 0; i < count; i++) trial->Store(KeyOfTrial(i), {value + std::to_string(i)});
}

TEST_F(OpenClTest, SaysWhatItIs) {
  const Description& description = device->description();
  EXPECT_EQ(description.name, "opencl:" + std::to_string(number));
  EXPECT_FALSE(description.hardware.empty());
  EXPECT_EQ(description.memory, MemoryModel::kCoupled);
  EXPECT_GT(description.units, 0u);
  EXPECT_GT(description.memory_bytes, 1u << 20);
  EXPECT_GT(description.allocation_bytes_max, 1u << 20);
  EXPECT_LE(description.allocation_bytes_max, description.memory_bytes);
  EXPECT_EQ(description.tasks, kAllTasks);
  EXPECT_TRUE(description.steals);
}

TEST_F(OpenClTest, ListsWhatCanBeOpened) {
  const std::vector<DeviceInfo> list = ListOpenCl();
  ASSERT_GT(list.size(), number);
  for (uint32_t i = 0; i < list.size(); i++) {
    const auto opened = OpenOpenCl(i);
    EXPECT_EQ(bool{opened}, list[i].unusable.empty()) << list[i].unusable;
  }
  const auto none = OpenOpenCl(static_cast<uint32_t>(list.size()));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kNotFound);
}

TEST_F(OpenClTest, MemoryIsAlignedAndZeroed) {
  for (const size_t bytes : {size_t{1}, size_t{4095}, size_t{4097}, size_t{3} << 20}) {
    for (int round = 0; round < 3; round++) {  // the later rounds may be given what was written to
      auto pages = device->pages()->Reserve(bytes, false);
      ASSERT_TRUE(pages) << pages.error().ToString();
      EXPECT_EQ(reinterpret_cast<uintptr_t>(pages->data()) % 4096, 0u);
      EXPECT_EQ(pages->size(), bytes);
      for (size_t i = 0; i < bytes; i++) ASSERT_EQ(pages->data()[i], 0) << i << " of " << bytes;
      std::memset(pages->data(), 0xa5, bytes);
    }
  }
}

TEST_F(OpenClTest, SaysHowMuchMemoryThereIs) {
  const uint64_t most = device->description().allocation_bytes_max;
  const auto pages = device->pages()->Reserve(most + 1, false);
  ASSERT_FALSE(pages);
  EXPECT_EQ(pages.error().code(), Code::kNoMemory);
  const std::string message(pages.error().message());
  EXPECT_NE(message.find("CL_DEVICE_MAX_MEM_ALLOC_SIZE"), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(most)), std::string::npos) << message;
}

TEST_F(OpenClTest, RunsEveryTask) {
  const auto trial = NewTrial(device.get());
  StoreKeys(trial.get(), 3000, "value");
  Status status = trial->Run(device.get());
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(trial->entries(), 3000u);
  trial->Begin();
  for (uint32_t i = 0; i < 4000; i++) {
    if (i % 3 == 0) trial->Delete(KeyOfTrial(i));
    if (i % 3 == 1) trial->Read(KeyOfTrial(i));
    if (i % 3 == 2) trial->Store(KeyOfTrial(i), {"a new value"});
  }
  status = trial->Run(device.get());
  ASSERT_TRUE(status.ok()) << status.ToString();
}

// More jobs than the driver is handed at a time, over as many stores; some memory goes and comes.
TEST_F(OpenClTest, ManyJobsAreInFlight) {
  std::vector<std::unique_ptr<Trial>> trials;
  for (int i = 0; i < 50; i++) trials.push_back(NewTrial(device.get(), 256));
  for (uint32_t round = 0; round < 10; round++) {
    trials[round] = NewTrial(device.get(), 256);
    std::atomic<uint32_t> told{0};
    for (auto& trial : trials) {
      StoreKeys(trial.get(), 200, "round " + std::to_string(round));
      trial->MakeJob(false);
      trial->job()->on_done = [&told] { told.fetch_add(1); };
      ASSERT_TRUE(device->Start(trial->job()).ok());
    }
    for (auto& trial : trials) {
      ASSERT_TRUE(trial->job()->Wait().ok());
      const Status status = trial->Check();
      ASSERT_TRUE(status.ok()) << status.ToString();
      trial->job()->on_done = nullptr;
    }
    EXPECT_EQ(told.load(), trials.size());
  }
}

TEST_F(OpenClTest, ManyThreadsStartJobs) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([this] {
      const auto trial = NewTrial(device.get(), 512);
      for (uint32_t round = 0; round < 100; round++) {
        StoreKeys(trial.get(), 500, "round " + std::to_string(round));
        const Status status = trial->Run(device.get());
        ASSERT_TRUE(status.ok()) << status.ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OpenClTest, TheEndWaitsForItsJobs) {
  std::vector<std::unique_ptr<Trial>> trials;
  for (int i = 0; i < 40; i++) {
    trials.push_back(NewTrial(device.get(), 1024));
    StoreKeys(trials.back().get(), 1000, "value");
    trials.back()->MakeJob(false);
    ASSERT_TRUE(device->Start(trials.back()->job()).ok());
  }
  device.reset();
  for (auto& trial : trials) {
    ASSERT_TRUE(trial->job()->done());
    EXPECT_TRUE(trial->job()->status().ok());
    EXPECT_TRUE(trial->Check().ok());
  }
}

TEST_F(OpenClTest, AnEmptyJobIsDone) {
  const auto trial = NewTrial(device.get());
  trial->shares = true;
  trial->Begin();
  trial->MakeJob(false);
  trial->job()->query.end = 0;
  ASSERT_TRUE(device->Start(trial->job()).ok());
  EXPECT_TRUE(trial->job()->Wait().ok());
}

}  // namespace
}  // namespace weft::processor
