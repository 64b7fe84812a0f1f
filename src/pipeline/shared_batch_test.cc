// Batches that a device with memory of its own shares with the worker.
#include "pipeline/shared_batch_scenes.h"
#include "processor/mirror_wrapper.h"
#include "processor/mirrored_processor.h"
#include "processor/plain_mirror.h"

namespace weft::pipeline {
namespace {

std::unique_ptr<processor::Processor> Make(uint32_t segments_max) {
  return processor::NewMirrorProcessor(segments_max);
}

TEST(SharedBatch, TheWorkerTakesSetsOfWhatTheDeviceHasNotBegun) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatches(Make, 2, &counts); }, &counts);
  counts.ExpectSharedWithoutFailures();
}

TEST(SharedBatch, ReadsBesideAWriterAreNeverOld) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatchesBesideAWriter(Make, 30, &counts); }, &counts);
  counts.ExpectSharedWithoutFailures();
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
  uint64_t jobs_ = 0;  // begun
  bool fails_ = false;  // the group under way
};

std::unique_ptr<processor::Processor> MakeFailing(uint32_t segments_max) {
  return processor::NewMirroredProcessor(std::make_unique<FailingMirror>(segments_max));
}

// Some parts of a job are done then, others are not, and the worker has taken sets.
TEST(SharedBatch, APartThatFailsLosesNothing) {
  SharedCounts counts;
  PlayUntilShared([&] { PlaySharedBatches(MakeFailing, 2, &counts); }, &counts);
  PlaySharedBatchesBesideAWriter(MakeFailing, 30, &counts);
  EXPECT_GT(counts.reruns, 0u);
  EXPECT_GT(counts.stolen, 0u);
}

}  // namespace
}  // namespace weft::pipeline
