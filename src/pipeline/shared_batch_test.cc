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
  EXPECT_GT(counts.gathered, 10'000u);
  EXPECT_GT(counts.stolen, 1000u);
  EXPECT_EQ(counts.reruns, 0u);
}

TEST(SharedBatch, ReadsBesideAWriterAreNeverOld) {
  SharedCounts counts;
  PlaySharedBatchesBesideAWriter(Make, 30, &counts);
  EXPECT_GT(counts.gathered, 1000u);
  EXPECT_GT(counts.stolen, 1000u);
}

// A plain mirror of which each fortieth group fails, after it has run.
class FailingMirror final : public processor::MirrorDevice {
 public:
  explicit FailingMirror(uint32_t segments_max) : inner_(processor::NewPlainMirror(segments_max)) {}

  const processor::Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  uint32_t groups_max() const override { return inner_->groups_max(); }
  Status Launch(std::span<const task::QueryJob> jobs) override { return inner_->Launch(jobs); }
  bool OldestIsDone() override { return inner_->OldestIsDone(); }
  Status TakeOldest() override {
    const Status status = inner_->TakeOldest();
    return ++groups_ % 40 == 0 ? Status(Code::kIoError, "the test's") : status;
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
  uint64_t groups_ = 0;
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
  EXPECT_GT(counts.stolen, 1000u);
}

}  // namespace
}  // namespace weft::pipeline
