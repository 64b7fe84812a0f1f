// processor/mirror/mirror_wrapper_test_kit.h: for tests: a device with its own memory that does
// what another one does, except where a test overrides it.
#pragma once

#include <memory>
#include <utility>

#include "processor/mirror/mirror_device.h"

namespace weft::processor {

class MirrorWrapper : public MirrorDevice {
 public:
  explicit MirrorWrapper(std::unique_ptr<MirrorDevice> inner) : inner_(std::move(inner)) {}

  const Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  uint32_t groups_max() const override { return inner_->groups_max(); }
  Status Launch(std::span<const task::QueryJob> jobs) override { return inner_->Launch(jobs); }
  bool OldestIsDone() override { return inner_->OldestIsDone(); }
  Status TakeOldest() override { return inner_->TakeOldest(); }

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

 protected:
  MirrorDevice& inner() { return *inner_; }

 private:
  const std::unique_ptr<MirrorDevice> inner_;
};

}  // namespace weft::processor
