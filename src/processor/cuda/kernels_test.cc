// The kernels on a device, held to the single-source tasks there and to a model. Skipped where
// there is no device. WEFT_SMALL=1 plays less of the same, for a checker that is slow.
#include "processor/cuda/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "processor/cuda/device_memory.h"
#include "processor/cuda/device_table.h"
#include "processor/cuda/stage_scene_test_kit.h"
#include "task/table_test_kit.h"

namespace weft::processor {
namespace {

bool Small() {
  static const bool small = std::getenv("WEFT_SMALL") != nullptr;
  return small;
}

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    const Status status = SetDevice(0);
    if (!status.ok()) GTEST_SKIP() << status.ToString();
  }
};

// Each array gets memory of its own, of just its size, so that a memory checker sees every reach.
template <typename Job, typename Run>
Status RunOnDevice(std::vector<SceneArray> arrays, Job& job, Run run) {
  std::vector<DeviceBuffer> buffers;
  for (const SceneArray& array : arrays) {
    Result<DeviceBuffer> buffer = DeviceBuffer::Create(array.bytes);
    if (!buffer) return buffer.error();
    Status status = buffer->CopyIn(array.data, array.bytes);
    if (!status.ok()) return status;
    array.set(buffer->data());
    buffers.push_back(std::move(*buffer));
  }
  Status status = run(job, nullptr);
  if (status.ok()) status = WaitForStream(nullptr);
  for (size_t i = 0; i < arrays.size() && status.ok(); i++)
    status = buffers[i].CopyOut(arrays[i].data, arrays[i].bytes);
  return status;
}

void RunScene(Scene& scene, bool plain) {
  Status status;
  if (plain) {
    task::QueryJob job = scene.PlainJob();
    status = RunOnDevice(scene.PlainArrays(job), job, RunPlain);
  } else {
    TableJob job = scene.Job();
    status = RunOnDevice(scene.Arrays(job), job, RunTable);
  }
  ASSERT_TRUE(status.ok()) << status.ToString();
}

// The batches of a scene as stages on a mirror, in one launch or one after the other. `pinned`:
// their columns lie in the host's memory.
void RunStages(StageScene& scene, bool together, bool pinned) {
  std::vector<TableJob> jobs = scene.Jobs();
  std::vector<SceneArray> columns = scene.ColumnArrays(jobs), arrays = scene.MirrorArrays(jobs);
  std::vector<PinnedBuffer> buffers;
  for (const SceneArray& column : columns) {
    if (!pinned) {
      arrays.push_back(column);
      continue;
    }
    Result<PinnedBuffer> buffer = PinnedBuffer::Create(std::max<size_t>(column.bytes, 1));
    ASSERT_TRUE(buffer.has_value()) << buffer.error().ToString();
    std::memcpy(buffer->data(), column.data, column.bytes);
    column.set(buffer->data());
    buffers.push_back(std::move(*buffer));
  }
  const auto run = [&](std::vector<TableJob>& all, CudaStream stream) {
    if (together) return RunTables(all.data(), static_cast<uint32_t>(all.size()), stream);
    for (const TableJob& job : all)
      if (const Status status = RunTable(job, stream); !status.ok()) return status;
    return Status::Ok();
  };
  const Status status = RunOnDevice(arrays, jobs, run);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (size_t n = 0; n < buffers.size(); n++)
    std::memcpy(columns[n].data, buffers[n].data(), columns[n].bytes);
}

void PlayAll(uint32_t scale, uint32_t batches) {
  std::mt19937_64 random(task::TestSeed());
  for (const SceneShape& shape : SceneShapes(scale)) {
    const std::string wrong = PlayScene(shape, batches, random, RunScene);
    ASSERT_EQ(wrong, "") << "keys of " << shape.key_bytes << ", values of " << shape.value_bytes
                         << ", align " << shape.log_align << ", packed " << shape.packed
                         << ", repeats " << shape.repeats << ", hash bits " << shape.hash_bits
                         << ", policy " << shape.policy;
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}

TEST_F(Kernels, AnswerWhatTheSingleSourceTasksAndAModelAnswer) { PlayAll(1, Small() ? 3 : 30); }

// Enough queries that warps of many multiprocessors meet in the table.
TEST_F(Kernels, AnswerTheSameInBatchesThatFillTheDevice) {
  if (Small()) GTEST_SKIP() << "WEFT_SMALL";
  PlayAll(30, 5);
}

TEST_F(Kernels, StoresOfFewKeysByManyQueriesLeaveEachKeyOnce) {
  std::mt19937_64 random(task::TestSeed());
  for (const uint32_t key_bytes : {8u, 16u, 13u}) {
    SceneShape shape;
    shape.key_bytes = key_bytes;
    shape.value_bytes = 16;
    shape.keys = 40;
    shape.buckets = 64;
    shape.log_bytes = 64 << 20;
    shape.log_align = 2;
    shape.repeats = true;
    Scene scene(shape, random);
    for (uint32_t batch = 0; batch < (Small() ? 1u : 10u); batch++) {
      scene.Draw(Small() ? 2000 : 100'000, kRunSearch | kRunCompare | kRunInsert, 0);
      RunScene(scene, false);
      ASSERT_FALSE(HasFatalFailure());
      ASSERT_EQ(scene.Check(false), "");
      ASSERT_EQ(scene.CheckTable(), "");
    }
    EXPECT_EQ(scene.stored(), 40u);
  }
}

TEST_F(Kernels, FullBucketsAreLeftToTheSecondPassWhichDisplaces) {
  std::mt19937_64 random(task::TestSeed());
  SceneShape shape;
  shape.key_bytes = 16;
  shape.value_bytes = 8;
  shape.keys = 200'000;
  shape.buckets = 1024;
  Scene scene(shape, random);
  for (uint32_t batch = 0; batch < 8; batch++) {
    scene.Draw(1500, kRunSearch | kRunCompare | kRunInsert, 0);
    RunScene(scene, false);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(scene.Check(false), "");
    ASSERT_EQ(scene.CheckTable(), "");
  }
  EXPECT_GT(scene.finished(), 0u);
  EXPECT_GT(scene.refused(), 0u);
  EXPECT_GT(scene.stored(), 1024u * 8 * 85 / 100);
}

TEST_F(Kernels, DoAsStagesOnAMirrorWhatTheSingleSourceTasksDo) {
  std::mt19937_64 random(task::TestSeed());
  for (const bool pinned : {false, true}) {
    for (const bool together : {true, false}) {
      EXPECT_EQ(PlayStages(random, Small() ? 200 : 3000,
                           [&](StageScene& scene) { RunStages(scene, together, pinned); }),
                "")
          << "pinned " << pinned << ", together " << together;
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST_F(Kernels, JobsThatNoKernelRunsAreRefused) {
  TableJob job{};
  job.count = 1;
  job.tasks = kRunSearch | kRunRead;
  EXPECT_EQ(RunTable(job, nullptr).code(), Code::kUnsupported);
  job.tasks = kRunSearch | kRunCompare | kRunInsert;
  EXPECT_EQ(RunTables(&job, 1, nullptr).code(), Code::kInvalidArgument);
  job.mirrored = 1;
  EXPECT_EQ(RunTable(job, nullptr).code(), Code::kUnsupported);
  TableJob other[2] = {};
  other[0].count = other[1].count = 1;
  other[0].tasks = kRunSearch;
  other[1].tasks = kRunCompare;
  EXPECT_EQ(RunTables(other, 2, nullptr).code(), Code::kInvalidArgument);
  const std::vector<TableJob> many(kTableGroupMax + 1, job);
  EXPECT_EQ(RunTables(many.data(), kTableGroupMax + 1, nullptr).code(), Code::kInvalidArgument);
}

TEST_F(Kernels, ATableOfItsOwnStoresAndReads) {
  DeviceTableOptions options;
  options.buckets = 1000;
  options.log_bytes = 1 << 20;
  auto table = DeviceTable::Create(options);
  ASSERT_TRUE(table.has_value()) << table.error().ToString();
  constexpr uint32_t kCount = 3000;
  std::vector<uint64_t> hashes(kCount), keys(kCount), values(kCount);
  std::mt19937_64 random(task::TestSeed());
  for (uint32_t i = 0; i < kCount; i++) {
    hashes[i] = random();
    keys[i] = i;
    values[i] = random();
  }
  const auto upload = [](const std::vector<uint64_t>& from) {
    DeviceBuffer buffer = std::move(*DeviceBuffer::Create(from.size() * 8));
    WEFT_CHECK(buffer.CopyIn(from.data(), from.size() * 8).ok());
    return buffer;
  };
  const DeviceBuffer hash = upload(hashes), key = upload(keys), value = upload(values);
  const DeviceBuffer placed = upload(hashes), records = upload(std::vector<uint64_t>(2 * kCount));
  DeviceBuffer result = upload(std::vector<uint64_t>(kCount));
  const DeviceBuffer pending = upload(keys);
  const DeviceBuffer pending_count = upload({0});
  TableJob job = (*table)->NewJob();
  job.count = kCount;
  job.hash = hash.as<uint64_t>();
  job.keys = key.as<uint8_t>();
  job.key_bytes_all = 8;
  job.store_values = value.as<uint8_t>();
  job.store_bytes_all = 8;
  job.placed = placed.as<uint64_t>();
  job.result = result.as<uint8_t>();
  job.values = records.as<uint8_t>();
  job.value_stride = 2;
  job.pending = pending.as<uint32_t>();
  job.pending_count = pending_count.as<uint64_t>();
  job.tasks = kRunSearch | kRunCompare | kRunInsert;
  job.wanted_all = kWantsStore;
  ASSERT_TRUE(RunTable(job, nullptr).ok());
  job.tasks = kRunSearch | kRunCompare | kRunRead;
  job.wanted_all = kWantsRead;
  ASSERT_TRUE(result.Fill(0, nullptr).ok());  // nothing has been done for these
  ASSERT_TRUE(RunTable(job, nullptr).ok());
  std::vector<uint64_t> read(2 * kCount);
  ASSERT_TRUE(records.CopyOut(read.data(), read.size() * 8).ok());
  for (uint32_t i = 0; i < kCount; i++) {
    ASSERT_EQ(read[2 * i], 8ul << 32) << i;
    ASSERT_EQ(read[2 * i + 1], values[i]) << i;
  }
  const auto used = (*table)->LogBytesUsed();
  ASSERT_TRUE(used.has_value());
  EXPECT_EQ(used.value(), 32u * (kCount + 1));
}

}  // namespace
}  // namespace weft::processor
