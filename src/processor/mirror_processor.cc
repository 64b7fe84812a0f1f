#include "processor/mirror_processor.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "processor/job_thread.h"
#include "processor/mirror.h"

namespace weft::processor {
namespace {

// Plain memory, of one thread.
class PlainMemory final : public MirrorMemory {
 public:
  explicit PlainMemory(uint32_t segments_max) : segments_max_(segments_max) {}

  Status NewIndex(uint64_t bucket_count) override {
    Result<cache::Pages> pages =
        cache::SystemPages()->Reserve((bucket_count + kMarkBuckets) * sizeof(task::Bucket), false);
    if (!pages) return pages.error();
    index_ = std::move(pages.value());
    bucket_count_ = bucket_count;
    return Status::Ok();
  }
  Status NewLog(uint32_t segments, uint64_t segment_bytes) override {
    segments_max_ = std::min(segments, segments_max_);
    Result<cache::Pages> pages =
        cache::SystemPages()->Reserve(uint64_t{segments_max_} * segment_bytes, false);
    if (!pages) return pages.error();
    log_ = std::move(pages.value());
    resident_.assign(segments, 0);
    bases_.assign(segments, 0);
    return Status::Ok();
  }
  uint32_t SegmentsMax() const override { return segments_max_; }
  Status WriteIndex(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces)
      std::memcpy(buckets() + piece.number * kMarkBuckets, piece.buckets, sizeof piece.buckets);
    return Status::Ok();
  }
  Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) override {
    std::memcpy(log_.data() + offset, bytes, count);
    return Status::Ok();
  }
  Status SetResident(uint32_t segment, uint32_t units, uint64_t base) override {
    resident_[segment] = units;
    bases_[segment] = base;
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
    return log;
  }

 private:
  task::Bucket* buckets() const { return reinterpret_cast<task::Bucket*>(index_.data()); }

  uint32_t segments_max_;
  cache::Pages index_;
  uint64_t bucket_count_ = 0;
  cache::Pages log_;
  std::vector<uint32_t> resident_;
  std::vector<uint64_t> bases_;
  std::vector<uint32_t> moves_ = std::vector<uint32_t>(kMoveStripes, 0);
};

class MirrorProcessor final : public Processor {
 public:
  explicit MirrorProcessor(uint32_t segments_max) : memory_(segments_max) {
    description_.name = "mirror";
    description_.hardware = "a thread of this process, on a copy of the store";
    description_.memory = MemoryModel::kMirrored;
    description_.units = 1;
    description_.tasks = kRunSearch | kRunCompare | kRunRead;
  }
  ~MirrorProcessor() override { Detach(); }

  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }

  Status Attach(cache::Store* store) override {
    mirror_ = std::make_unique<Mirror>(store, &memory_);
    if (Status status = mirror_->Open(); !status.ok()) return status;
    base::MutexLock lock(&mutex_);
    thread_ = std::make_unique<JobThread>(
        "weft-mirror", [this](const task::QueryJob& query) { return RunJob(query); });
    return Status::Ok();
  }
  void Detach() override {
    std::unique_ptr<JobThread> ended;
    {
      base::MutexLock lock(&mutex_);
      ended = std::move(thread_);
    }
    ended.reset();
    mirror_.reset();
  }

  Status Start(Job* job) override {
    base::MutexLock lock(&mutex_);
    if (thread_ == nullptr) return {Code::kInvalidArgument, "mirror: no store is attached"};
    thread_->Take(job);
    return Status::Ok();
  }

 private:
  // A job for which there is no mirror just now is left undone, which is no failure.
  Status RunJob(task::QueryJob query) {
    Result<bool> ready = mirror_->Advance(query.index, query.log);
    if (!ready) return ready.error();
    if (!*ready) return Status::Ok();
    mirror_->Replace(&query);
    task::RunQueries(query, query.begin, query.end, 0);
    return Status::Ok();
  }

  PlainMemory memory_;
  Description description_;  // constant after construction
  std::unique_ptr<Mirror> mirror_;

  base::Mutex mutex_;
  std::unique_ptr<JobThread> thread_ WEFT_GUARDED_BY(mutex_);  // null: no store is attached
};

}  // namespace

std::unique_ptr<Processor> NewMirrorProcessor(uint32_t segments_max) {
  return std::make_unique<MirrorProcessor>(segments_max);
}

}  // namespace weft::processor
