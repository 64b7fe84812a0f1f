#include "processor/mirror/plain_mirror.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "processor/mirror/copy_buckets.h"
#include "processor/mirror/copy_log.h"
#include "processor/mirror/mirrored_processor.h"

namespace weft::processor {
namespace {

// The device is the thread that asks it: a group is run when it is launched.
class PlainMirror final : public MirrorDevice {
 public:
  explicit PlainMirror(uint32_t segments_max) : segments_max_(segments_max) {
    description_.name = "mirror";
    description_.hardware = "a thread of this process, on a copy of the store";
    description_.memory = MemoryModel::kMirrored;
    description_.units = 1;
    description_.tasks = kRunSearch | kRunCompare | kRunRead;
    description_.steals = true;
  }

  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }
  uint32_t groups_max() const override { return 1; }
  Status Launch(std::span<const task::QueryJob> jobs) override {
    for (task::QueryJob job : jobs) {
      uint32_t values_used = 0;
      job.values_used = &values_used;
      task::RunQueries(job, job.begin, job.end, 0);
      SpoilEntries(job);
    }
    return Status::Ok();
  }
  bool OldestIsDone() override { return true; }
  Status TakeOldest() override { return Status::Ok(); }

  Status NewIndex(uint64_t bucket_count) override {
    Result<cache::Pages> pages =
        cache::SystemPages()->Reserve(bucket_count * sizeof(task::Bucket), false);
    if (!pages) return pages.error();
    index_ = std::move(pages.value());
    bucket_count_ = bucket_count;
    return Status::Ok();
  }
  Status NewLog(uint32_t segments, uint64_t segment_bytes) override {
    Result<cache::Pages> pages =
        cache::SystemPages()->Reserve(uint64_t{segments} * segment_bytes, false);
    if (!pages) return pages.error();
    log_ = std::move(pages.value());
    segment_bytes_ = segment_bytes;
    resident_.assign(segments, 0);
    bases_.assign(segments, 0);
    uses_.assign(segments, 0);
    return Status::Ok();
  }
  uint32_t SegmentsMax() const override { return segments_max_; }
  // Pages get memory as they are touched.
  Status Hold(uint32_t) override { return Status::Ok(); }
  Status Drop(uint32_t segment) override {
    log_.Release(segment * segment_bytes_, segment_bytes_);
    return Status::Ok();
  }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    CopyBuckets(table, numbers, [&](size_t i) { return buckets() + numbers[i]; });
    return Status::Ok();
  }
  Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) override {
    CopyLog(log_.data() + offset, bytes, count);
    return Status::Ok();
  }
  Status SetResident(uint32_t segment, uint32_t units, uint64_t base) override {
    resident_[segment] = units;
    bases_[segment] = base;
    return Status::Ok();
  }
  Status ReadUses(std::span<uint32_t> uses) override {
    for (size_t i = 0; i < uses.size(); i++) uses[i] = task::LoadRelaxed32(&uses_[i]);
    return Status::Ok();
  }
  task::IndexRef index() const override {
    task::IndexRef index{};
    index.older = {buckets(), bucket_count_};
    index.move_counts = const_cast<uint32_t*>(moves_.data());  // nothing moves here
    return index;
  }
  task::LogRef log() const override {
    task::LogRef log{};
    log.base = log_.data();
    log.version_bases = bases_.data();
    log.resident = resident_.data();
    log.uses = const_cast<uint32_t*>(uses_.data());  // which are the tasks' to set
    return log;
  }

 private:
  // What a GPU leaves as it was is whatever was there.
  static void SpoilEntries(const task::QueryJob& job) {
    if (job.sparse_entries == 0) return;
    for (uint32_t i = job.begin; i < job.end; i++) {
      if (job.wanted[i] != kWantsRead || job.result[i] != kResultRead ||
          (job.value_at[i] & kValueNoteBit) != 0 || task::IsInNoteRow(job.note_row, i))
        continue;
      job.columns.word[i] = i % 2 == 0 ? 0 : UINT64_MAX;
      job.columns.position[i] = UINT64_MAX;
    }
  }

  task::Bucket* buckets() const { return reinterpret_cast<task::Bucket*>(index_.data()); }

  Description description_;  // constant after construction
  const uint32_t segments_max_;
  cache::Pages index_;
  uint64_t bucket_count_ = 0;
  cache::Pages log_;
  uint64_t segment_bytes_ = 0;
  std::vector<uint32_t> resident_;
  std::vector<uint32_t> uses_;
  std::vector<uint64_t> bases_;
  std::vector<uint32_t> moves_ = std::vector<uint32_t>(kMoveStripes, 0);
};

}  // namespace

std::unique_ptr<MirrorDevice> NewPlainMirror(uint32_t segments_max) {
  return std::make_unique<PlainMirror>(segments_max);
}

std::unique_ptr<Processor> NewMirrorProcessor(uint32_t segments_max) {
  return NewMirroredProcessor(NewPlainMirror(segments_max));
}

}  // namespace weft::processor
