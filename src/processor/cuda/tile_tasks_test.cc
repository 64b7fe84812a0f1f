// The tuned tasks on a CPU: the very code of the kernels, with fibers for lanes.
#include "processor/cuda/tile_tasks.h"

#include <gtest/gtest.h>

#include "processor/cuda/fiber_warp_test_kit.h"
#include "processor/cuda/stage_scene_test_kit.h"
#include "task/table_test_kit.h"

namespace weft::processor {
namespace {

constexpr uint32_t kFinds = kRunSearch | kRunCompare;
constexpr uint32_t kReads = kFinds | kRunRead;
constexpr uint32_t kMixes = kReads | kRunInsert | kRunDelete;

// A block that shares records has four warps here: other numbers of lanes than a list has entries.
constexpr uint32_t kSharingLanes = 128;

template <uint32_t kWords, uint32_t kTasks>
void RunOnFibers(const TableJob& job, std::mt19937_64& random) {
  const uint32_t warps = (job.count + 31) / 32;
  if (job.shares_records == 0) {
    tile::RunFiberWarps(warps, 6, random, [&](tile::FiberRing& ring, uint32_t lane, uint32_t warp) {
      tile::RunGroup<tile::FiberWarp, kWords, kTasks, false>(tile::FiberWarp(ring, lane), job,
                                                             warp * 32 + lane, nullptr);
    });
    return;
  }
  std::vector<tile::RecordList> lists(warps);
  tile::RunFiberWarps(warps, 6, random, [&](tile::FiberRing& ring, uint32_t lane, uint32_t warp) {
    tile::RunGroup<tile::FiberWarp, kWords, kTasks, true>(tile::FiberWarp(ring, lane), job,
                                                          warp * 32 + lane, &lists[warp]);
  });
  for (const tile::RecordList& list : lists)
    for (uint32_t lane = 0; lane < kSharingLanes; lane++)
      tile::CopyListed<tile::FiberWarp>(list, lane, kSharingLanes);
}

template <uint32_t kTasks>
void RunForKeys(const TableJob& job, std::mt19937_64& random) {
  switch (job.key_bytes_all) {
    case 8: return RunOnFibers<1, kTasks>(job, random);
    case 16: return RunOnFibers<2, kTasks>(job, random);
    case 32: return RunOnFibers<4, kTasks>(job, random);
    default: return RunOnFibers<0, kTasks>(job, random);
  }
}

void RunScene(Scene& scene, bool plain, std::mt19937_64& random) {
  if (plain) {
    const task::QueryJob job = scene.PlainJob();
    for (uint32_t i = 0; i < job.end; i++) task::RunQuery(job, i);
    return;
  }
  const TableJob job = scene.Job();
  switch (job.tasks) {
    case kRunSearch: return RunForKeys<kRunSearch>(job, random);
    case kFinds: return RunForKeys<kFinds>(job, random);
    case kReads: return RunForKeys<kReads>(job, random);
    case kFinds | kRunDelete: return RunForKeys<kFinds | kRunDelete>(job, random);
    case kFinds | kRunInsert: RunForKeys<kFinds | kRunInsert>(job, random); break;
    default: RunForKeys<kMixes>(job, random); break;
  }
  for (uint64_t at = 0; at < *job.pending_count; at++) tile::FinishStore(job, job.pending[at]);
}

void RunStages(StageScene& scene, std::mt19937_64& random) {
  for (const TableJob& job : scene.Jobs()) {
    switch (job.tasks) {
      case kRunSearch: RunForKeys<kRunSearch>(job, random); break;
      case kFinds: RunForKeys<kFinds>(job, random); break;
      case kReads: RunForKeys<kReads>(job, random); break;
      case kRunCompare: RunOnFibers<0, kRunCompare>(job, random); break;
      case kRunCompare | kRunRead: RunOnFibers<0, kRunCompare | kRunRead>(job, random); break;
      default: RunOnFibers<0, kRunRead>(job, random); break;
    }
  }
}

TEST(TileTasks, AnswerWhatTheSingleSourceTasksAndAModelAnswer) {
  if (!tile::kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  for (const SceneShape& shape : SceneShapes(1)) {
    const std::string wrong =
        PlayScene(shape, task::Rounds(3), random,
                  [&](Scene& scene, bool plain) { RunScene(scene, plain, random); });
    ASSERT_EQ(wrong, "") << "keys of " << shape.key_bytes << ", values of " << shape.value_bytes
                         << ", align " << shape.log_align << ", packed " << shape.packed
                         << ", repeats " << shape.repeats << ", hash bits " << shape.hash_bits
                         << ", policy " << shape.policy;
  }
}

TEST(TileTasks, DoAsStagesOnAMirrorWhatTheSingleSourceTasksDo) {
  if (!tile::kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  EXPECT_EQ(PlayStages(random, 160, [&](StageScene& scene) { RunStages(scene, random); }), "");
}

TEST(TileTasks, FullBucketsAreLeftToTheSecondPassWhichDisplaces) {
  if (!tile::kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  SceneShape shape;
  shape.key_bytes = 16;
  shape.value_bytes = 8;
  shape.keys = 4000;
  shape.buckets = 64;
  Scene scene(shape, random);
  for (uint32_t batch = 0; batch < 12; batch++) {
    scene.Draw(100, kFinds | kRunInsert, 0);
    RunScene(scene, false, random);
    ASSERT_EQ(scene.Check(false), "");
    ASSERT_EQ(scene.CheckTable(), "");
    // A query whose first bucket is full takes its second in the first pass.
    if (batch == 2) {
      EXPECT_LT(scene.finished(), 4u) << scene.stored();
    }
  }
  EXPECT_GT(scene.finished(), 0u);
  EXPECT_GT(scene.refused(), 0u);
  EXPECT_GT(scene.stored(), 64u * 8 * 85 / 100);  // the load that displacement promises
}

// Queries of the scene's batch that ReadShort or ReadWhole answer by themselves: what they leave is
// answered all the same, but not so fast.
template <uint32_t kWords>
uint32_t ReadAtOnce(const TableJob& job, std::mt19937_64& random) {
  uint32_t answered = 0;
  tile::RunFiberWarps(
      (job.count + 31) / 32, 6, random, [&](tile::FiberRing& ring, uint32_t lane, uint32_t number) {
        const tile::FiberWarp warp(ring, lane);
        tile::Query query = tile::BeginQuery<tile::FiberWarp, kReads>(job, number * 32 + lane);
        tile::FindEntries<tile::FiberWarp, kReads>(warp, job, query);
        if (!tile::MayReadWhole<kWords>(job)) return;
        if constexpr (kWords == 1) {
          answered += tile::ReadShort(warp, job, query) ? 1 : 0;
        } else {
          answered += tile::ReadWhole<tile::FiberWarp, kWords>(warp, job, query) ? 1 : 0;
        }
      });
  return answered;
}

TEST(TileTasks, WholeObjectsAreReadAtOnceWhereverTheyLie) {
  if (!tile::kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  for (const uint32_t align : {1u, 2u}) {
    for (const uint32_t key_bytes : {8u, 16u, 32u}) {
      SceneShape shape;
      shape.key_bytes = key_bytes;
      shape.value_bytes = key_bytes == 8 ? 8 : key_bytes == 16 ? 64 : 256;
      shape.log_align = align;
      Scene scene(shape, random);
      scene.Draw(400, kFinds | kRunInsert, 0);
      RunScene(scene, false, random);
      ASSERT_EQ(scene.Check(false), "");
      scene.Draw(500, kReads, 0);
      TableJob job = scene.Job();
      job.read_bytes = (8 + key_bytes + shape.value_bytes + 15) / 16 * 16;
      const uint32_t answered = key_bytes == 8    ? ReadAtOnce<1>(job, random)
                                : key_bytes == 16 ? ReadAtOnce<2>(job, random)
                                                  : ReadAtOnce<4>(job, random);
      RunScene(scene, false, random);
      ASSERT_EQ(scene.Check(false), "");
      // Few candidates are of another key.
      EXPECT_GE(answered, scene.hits() * 95 / 100) << key_bytes << ", align " << align;
      EXPECT_GT(answered, 100u);
    }
  }
}

TEST(TileTasks, SearchAloneGivesACandidateWithTheTag) {
  if (!tile::kFibers) GTEST_SKIP() << "fibers are not for sanitizers";
  std::mt19937_64 random(task::TestSeed());
  SceneShape shape;
  shape.key_bytes = 16;
  shape.value_bytes = 64;
  Scene scene(shape, random);
  scene.Draw(400, kFinds | kRunInsert, 0);
  RunScene(scene, false, random);
  ASSERT_EQ(scene.Check(false), "");
  scene.Draw(500, kRunSearch, 0);
  RunScene(scene, false, random);
  const TableJob job = scene.Job();
  uint32_t candidates = 0;
  for (uint32_t i = 0; i < job.count; i++) {
    if (job.wanted[i] == kWantsNothing) continue;
    const std::string key(reinterpret_cast<const char*>(job.keys) + 16ul * i, 16);
    const task::Found found = task::Find(job.index, job.log, {job.hash[i], task::Bytes(key), 16});
    if (found.slot == nullptr) continue;
    ASSERT_EQ(task::SlotTag(job.word[i]), task::TagOfHash(job.hash[i]));
    ASSERT_EQ(*task::SlotAtPosition(job.index, job.position[i]), job.word[i]);
    candidates++;
  }
  EXPECT_GT(candidates, 100u);
}

}  // namespace
}  // namespace weft::processor
