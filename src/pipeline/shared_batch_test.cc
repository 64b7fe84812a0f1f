// Batches that a device with memory of its own shares with the worker.
#include "pipeline/shared_batch_scenes.h"
#include "processor/mirrored_processor.h"
#include "processor/plain_mirror.h"

namespace weft::pipeline {
namespace {

std::unique_ptr<processor::Processor> Make(uint32_t segments_max) {
  return processor::NewMirrorProcessor(segments_max);
}

TEST(SharedBatch, TheWorkerTakesSetsOfWhatTheDeviceHasNotBegun) {
  SharedCounts counts;
  PlaySharedBatches(Make, 2, &counts);
  counts.ExpectSharedWithoutFailures();
}

TEST(SharedBatch, ReadsBesideAWriterAreNeverOld) {
  SharedCounts counts;
  PlaySharedBatchesBesideAWriter(Make, 30, &counts);
  counts.ExpectSharedWithoutFailures();
}

// A plain mirror that fails every third job in a part behind its first one, after that has run.
class FailingMirror final : public processor::MirrorDevice {
 public:
  explicit FailingMirror(uint32_t segments_max) : inner_(processor::NewPlainMirror(segments_max)) {}

  const processor::Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  uint32_t groups_max() const override { return inner_->groups_max(); }
  Status Launch(std::span<const task::QueryJob> jobs) override {
    bool is_later = false;
    for (const task::QueryJob& job : jobs) {
      jobs_ += job.begin == 0;
      is_later |= job.begin != 0;
    }
    fails_ = is_later && jobs_ % 3 == 0;
    return inner_->Launch(jobs);
  }
  bool OldestIsDone() override { return inner_->OldestIsDone(); }
  Status TakeOldest() override {
    const Status status = inner_->TakeOldest();
    return fails_ ? Status(Code::kIoError, "the test's") : status;
  }

  Status NewIndex(uint64_t buckets) override { return inner_->NewIndex(buckets); }
  Status NewLog(uint32_t segments, uint64_t segment_bytes) override {
    return inner_->NewLog(segments, segment_bytes);
  }
  uint32_t SegmentsMax() const override { return inner_->SegmentsMax(); }
  Status Hold(uint32_t segment) override { return inner_->Hold(segment); }
  Status Drop(uint32_t segment) override { return inner_->Drop(segment); }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    return inner_->CopyIndex(table, numbers);
  }
  Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) override {
    return inner_->WriteLog(offset, bytes, count);
  }
  Status SetResident(uint32_t segment, uint32_t units, uint64_t base) override {
    return inner_->SetResident(segment, units, base);
  }
  Status ReadUses(std::span<uint32_t> uses) override { return inner_->ReadUses(uses); }
  task::IndexRef index() const override { return inner_->index(); }
  task::LogRef log() const override { return inner_->log(); }

 private:
  const std::unique_ptr<processor::MirrorDevice> inner_;
  uint64_t jobs_ = 0;  // begun
  bool fails_ = false;  // the group under way
};

std::unique_ptr<processor::Processor> MakeFailing(uint32_t segments_max) {
  return processor::NewMirroredProcessor(std::make_unique<FailingMirror>(segments_max));
}

// Some parts of a job are done then, others are not, and the worker has taken sets.
TEST(SharedBatch, APartThatFailsLosesNothing) {
  SharedCounts counts;
  PlaySharedBatches(MakeFailing, 2, &counts);
  PlaySharedBatchesBesideAWriter(MakeFailing, 30, &counts);
  EXPECT_GT(counts.reruns, 0u);
  EXPECT_GT(counts.stolen, 0u);
}

}  // namespace
}  // namespace weft::pipeline
