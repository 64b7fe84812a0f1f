// Batches that a device with memory of its own shares with the worker.
#include "pipeline/shared_batch_test_kit.h"
#include "processor/mirror/mirror_wrapper_test_kit.h"
#include "processor/mirror/mirrored_processor.h"
#include "processor/mirror/plain_mirror.h"

namespace weft::pipeline {
namespace {

TEST(SharedBatch, TheWorkerTakesSetsOfWhatTheDeviceHasNotBegun) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatches(processor::NewMirrorProcessor, 2, &counts); }, &counts);
  counts.ExpectSharedWithoutFailures();
}

TEST(SharedBatch, ReadsBesideAWriterAreNeverOld) {
  SharedCounts counts;
  PlayUntilShared(
      [&] { PlaySharedBatchesBesideAWriter(processor::NewMirrorProcessor, 30, &counts); }, &counts);
  counts.ExpectSharedWithoutFailures();
}

// A plain mirror whose groups are done when the test says so, and fail where it wants that.
class HeldMirror final : public processor::MirrorWrapper {
 public:
  explicit HeldMirror(uint32_t segments_max)
      : MirrorWrapper(processor::NewPlainMirror(segments_max)) {}

  Status Launch(std::span<const task::QueryJob> jobs) override {
    const Status status = inner().Launch(jobs);
    launched_jobs_.assign(jobs.begin(), jobs.end());
    launched_.fetch_add(1, std::memory_order_release);
    return status;
  }
  bool OldestIsDone() override {
    return let_go_.load(std::memory_order_acquire) == launched_.load(std::memory_order_relaxed);
  }
  // One that failed has told what its reads found, and not copied the values.
  Status TakeOldest() override {
    const Status status = inner().TakeOldest();
    if (!fails_.load(std::memory_order_relaxed)) return status;
    for (const task::QueryJob& job : launched_jobs_)
      std::fill(job.values + uint64_t{job.values_begin} * 8,
                job.values + uint64_t{job.values_capacity} * 8, uint8_t{0});
    return Status(Code::kIoError, "the test's");
  }

  // --- the test's ---
  uint32_t launched() const { return launched_.load(std::memory_order_acquire); }
  // The last one that was launched.
  void LetGo(bool fails) {
    fails_.store(fails, std::memory_order_relaxed);
    let_go_.fetch_add(1, std::memory_order_release);
  }

 private:
  std::vector<task::QueryJob> launched_jobs_;  // of the thread that drives it
  std::atomic<uint32_t> launched_{0}, let_go_{0};
  std::atomic<bool> fails_{false};
};

// Keeps what the reads of a batch are told.
struct ValueReader : Sink {
  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) values.emplace_back(ReplyOf(batch, i, session).value);
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}

  std::vector<std::string> values;
};

// A job of which the device does `parts_done` parts and fails the next, while the worker takes sets
// beside each.
void PlayAPartThatFails(uint32_t parts_done) {
  SCOPED_TRACE(parts_done);
  constexpr uint32_t kKeys = 1000;
  constexpr uint64_t kSetsBesideEach = 20;
  HeldMirror* mirror = nullptr;
  SharedBed bed([&](uint32_t segments_max) {
    auto made = std::make_unique<HeldMirror>(segments_max);
    mirror = made.get();
    return processor::NewMirroredProcessor(std::move(made));
  });
  Client client(bed.store.get());
  const auto value_of = [](uint32_t key) {
    return key % 10 == 9 ? "" : std::to_string(key) + std::string(key % 90, 'v');
  };
  for (uint32_t key = 0; key < kKeys; key++)
    if (!value_of(key).empty()) client.Set(std::to_string(key), value_of(key));
  ASSERT_NO_FATAL_FAILURE(bed.Open());

  BatchRun* const run = bed.runner->Free();
  run->batch().Clear();
  const uint32_t source = run->batch().AddSource(kMuchRoom);
  std::deque<std::string> keys;
  for (uint32_t i = 0; i < SharedBed::kQueriesMax; i++) {
    const std::string& key = keys.emplace_back(std::to_string(i % kKeys));
    run->batch().AddRead(source, i, key, bed.store->HashOf(key));
  }
  bed.runner->Begin(run);
  for (uint32_t part = 0; part <= parts_done; part++) {
    while (mirror->launched() == part) {
      ASSERT_EQ(bed.runner->Ready(), nullptr) << "the device was given no part " << part;
      std::this_thread::yield();
    }
    for (uint64_t sets = 0; sets < kSetsBesideEach; sets++) EXPECT_TRUE(bed.runner->Help());
    mirror->LetGo(part == parts_done);
  }
  bed.runner->Wait();
  ASSERT_EQ(bed.runner->Ready(), run);
  ValueReader reader;
  bed.runner->Finish(run, reader);

  ASSERT_EQ(reader.values.size(), keys.size());
  for (uint32_t i = 0; i < keys.size(); i++)
    ASSERT_EQ(reader.values[i], value_of(i % kKeys)) << "read " << i;
  EXPECT_EQ(mirror->launched(), parts_done + 1) << "parts behind the one that failed";
  SharedCounts counts;
  bed.CountInto(&counts);
  EXPECT_EQ(counts.reruns, 1u);
  constexpr uint64_t kLacksInLastSet = kSetQueries - SharedBed::kQueriesMax % kSetQueries;
  EXPECT_EQ(counts.stolen, (parts_done + 1) * kSetsBesideEach * kSetQueries - kLacksInLastSet);
}

// Some parts of the job are done then, others are not, and the worker has taken sets.
TEST(SharedBatch, APartThatFailsLosesNothing) {
  for (const uint32_t parts_done : {0, 1, 4})
    ASSERT_NO_FATAL_FAILURE(PlayAPartThatFails(parts_done));
}

// A plain mirror that fails every third job in a part behind its first one, after that has run.
class FailingMirror final : public processor::MirrorWrapper {
 public:
  explicit FailingMirror(uint32_t segments_max)
      : MirrorWrapper(processor::NewPlainMirror(segments_max)) {}

  Status Launch(std::span<const task::QueryJob> jobs) override {
    bool is_later = false;
    for (const task::QueryJob& job : jobs) {
      jobs_ += job.begin == 0;
      is_later |= job.begin != 0;
    }
    fails_ = is_later && jobs_ % 3 == 0;
    return inner().Launch(jobs);
  }
  Status TakeOldest() override {
    const Status status = inner().TakeOldest();
    return fails_ ? Status(Code::kIoError, "the test's") : status;
  }

 private:
  uint64_t jobs_ = 0;   // begun
  bool fails_ = false;  // the group under way
};

std::unique_ptr<processor::Processor> MakeFailing(uint32_t segments_max) {
  return processor::NewMirroredProcessor(std::make_unique<FailingMirror>(segments_max));
}

TEST(SharedBatch, PartsThatFailNowAndThenLoseNothing) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatches(MakeFailing, 2, &counts); }, &counts, 1);
  PlaySharedBatchesBesideAWriter(MakeFailing, 30, &counts);
  EXPECT_GT(counts.reruns, 0u);
  EXPECT_GT(counts.stolen, 0u);
}

}  // namespace
}  // namespace weft::pipeline
