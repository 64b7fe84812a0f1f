#include "processor/cuda/cuda_mirror.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "processor/cuda/device_range.h"
#include "processor/cuda/group_streams.h"
#include "processor/cuda/line_transfer.h"
#include "processor/cuda/object_share.h"
#include "processor/cuda/transfer.h"

namespace weft::processor {
namespace {

constexpr size_t kCounters = 4096;
// Of the memory that is free: what segments may take. The index of small objects takes nearly half
// as much as they do.
constexpr uint64_t kLogPercent = 60;

// From such objects on, on average, the records of a block are copied by all of its warps.
constexpr uint32_t kSharedObjectBytes = 64;

// What MirrorMemory::SetResident says of a segment.
struct Residency {
  uint64_t base;
  uint32_t segment;
  uint32_t units;
};

class PinnedPages final : public cache::PageSource {
 public:
  explicit PinnedPages(int device) : device_(device) {}

  Result<cache::Pages> Reserve(size_t bytes, bool) override {
    if (Status status = SetDevice(device_); !status.ok()) return status;
    auto buffer = PinnedBuffer::Create(bytes);
    if (!buffer) return buffer.error();
    auto owner = std::make_shared<PinnedBuffer>(std::move(*buffer));
    auto* const data = static_cast<uint8_t*>(owner->data());
    std::memset(data, 0, bytes);
    return cache::Pages(data, bytes, std::move(owner), false);
  }

 private:
  const int device_;
};

// The job as the tuned kernels take it, but for its counter: its first query is their query 0.
TableJob TableJobOf(const task::QueryJob& query) {
  const uint32_t begin = query.begin;
  TableJob job;
  job.index = query.index;
  job.log = query.log;
  job.count = query.end - begin;
  job.tasks = query.tasks;
  job.now_s = query.now_s;
  job.dice = query.dice + begin;
  job.again = query.again;
  job.mirrored = query.mirrored;
  job.note_row = query.note_row;  // parts begin where rows of this number do
  job.sparse_entries = query.sparse_entries;
  job.hash = query.columns.hash + begin;
  job.keys = query.columns.keys + uint64_t{query.key_bytes_all} * begin;
  job.key_bytes_all = query.key_bytes_all;
  if (query.key_bytes_all == 0) {
    job.key_at = query.columns.key_at + begin;
    job.key_bytes = query.columns.key_bytes + begin;
  }
  job.wanted = query.wanted + begin;
  job.result = query.result + begin;
  job.word = query.columns.word + begin;
  job.position = query.columns.position + begin;
  job.value_at = query.value_at + begin;
  job.values = query.values;
  job.values_begin = query.values_begin;
  job.values_capacity = query.values_capacity;
  job.read_bytes = (query.object_bytes + 15) / 16 * 16;
  job.shares_records = query.object_bytes >= kSharedObjectBytes ? 1 : 0;
  return job;
}

class CudaMirror final : public MirrorDevice {
 public:
  explicit CudaMirror(int number) : number_(number), pages_(number) {}
  ~CudaMirror() override {
    // After a lost device there is nobody left to tell.
    if (SetDevice(number_).ok()) (void)streams_.Settle();
  }

  Status Open() {
    Status allowed = Take(AllowedObjectBytes(std::getenv(kObjectsVariable)), &allowed_bytes_);
    if (!allowed.ok()) return allowed;
    if (Status status = SetDevice(number_); !status.ok()) return status;
    Result<DeviceFacts> facts = FactsOfDevice(number_);
    if (!facts) return facts.error();
    description_ = DescriptionOf(number_, *facts);
    if (Status status = Take(GroupStreams::Create(), &streams_); !status.ok()) return status;
    if (Status status = Take(Transfer::Create(), &transfer_); !status.ok()) return status;
    if (Status status = Take(LineTransfer::Create(), &lines_); !status.ok()) return status;
    if (Status status = Take(Event::Create(), &uses_read_); !status.ok()) return status;
    Status status = Allot(kCounters * sizeof(uint64_t), &counters_);
    if (status.ok()) status = Allot(kMoveStripes * sizeof(uint32_t), &moves_);
    if (status.ok()) status = Clear(&moves_);
    return status;
  }

  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return &pages_; }
  uint32_t groups_max() const override { return GroupStreams::kGroups; }

  Status NewIndex(uint64_t bucket_count) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    if (Status status = Settle(); !status.ok()) return status;
    buckets_ = DeviceBuffer();
    bucket_count_ = bucket_count;
    Status status = Allot(bucket_count * sizeof(task::Bucket), &buckets_);
    if (status.ok()) status = Clear(&buckets_);
    return status;
  }

  Status NewLog(uint32_t segments, uint64_t segment_bytes) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    if (Status status = Settle(); !status.ok()) return status;
    log_ = DeviceRange();
    segment_bytes_ = segment_bytes;
    dropped_.clear();
    residency_.clear();
    Status status = Take(DeviceRange::Reserve(segments * segment_bytes + kReadBehindBytes), &log_);
    if (!status.ok()) return status;
    uint64_t free_bytes = 0;
    if (status = Take(FreeBytes(), &free_bytes); !status.ok()) return status;
    log_bytes_max_ = std::min(free_bytes / 100 * kLogPercent, allowed_bytes_);
    segments_max_ =
        static_cast<uint32_t>(std::min<uint64_t>(segments, log_bytes_max_ / segment_bytes));
    status = Allot(segments * sizeof(uint32_t), &resident_);
    if (status.ok()) status = Allot(segments * sizeof(uint64_t), &bases_);
    if (status.ok()) status = Clear(&resident_);
    if (status.ok()) status = Clear(&bases_);
    if (status.ok()) status = Allot(segments * sizeof(uint32_t), &uses_);
    if (status.ok()) status = Clear(&uses_);
    if (status.ok()) status = Take(PinnedBuffer::Create(segments * sizeof(uint32_t)), &uses_copy_);
    if (status.ok()) std::memset(uses_copy_.data(), 0, uses_copy_.size());
    return status;
  }

  uint32_t SegmentsMax() const override { return segments_max_; }

  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    // What an earlier call took is older.
    Status status = FlushLines();
    while (status.ok() && !numbers.empty()) {
      const std::span<const uint64_t> part = numbers.first(std::min(numbers.size(), lines_.room()));
      numbers = numbers.subspan(part.size());
      status = lines_.Gather(table, part);
      if (status.ok() && !numbers.empty()) status = FlushLines();
    }
    return status;
  }

  Status Hold(uint32_t segment) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    if (Status status = DropAll(); !status.ok()) return status;
    // Segments that lie alone take whole chunks, those beside each other share some.
    const uint64_t missing = log_.MissingBytes(segment * segment_bytes_, segment_bytes_);
    if (log_.held_bytes() + missing > log_bytes_max_)
      return {Code::kNoMemory, description_.name + ": its memory for objects is full"};
    return log_.Hold(segment * segment_bytes_, segment_bytes_ + kReadBehindBytes);
  }

  // Jobs that are under way may look at it still.
  Status Drop(uint32_t segment) override {
    dropped_.push_back(segment);
    return Status::Ok();
  }

  Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    return Send(log_.data() + offset, bytes, count);
  }

  // Sent with the next group.
  Status SetResident(uint32_t segment, uint32_t units, uint64_t base) override {
    if (units == 0) {
      // What is on its way to it is older than what will be written there anew; which no group sees
      // that still takes it for what it was.
      if (Status status = SetDevice(number_); !status.ok()) return status;
      if (Status status = FlushTransfer(); !status.ok()) return status;
      if (Result<CudaStream> stream = streams_.ToReplace(); !stream) return stream.error();
    }
    for (Residency& each : residency_) {
      if (each.segment != segment) continue;
      each = {base, segment, units};
      return Status::Ok();
    }
    residency_.push_back({base, segment, units});
    return Status::Ok();
  }

  // What it was when this was called the time before.
  Status ReadUses(std::span<uint32_t> uses) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    if (Status status = uses_read_.Wait(); !status.ok()) return status;
    std::memcpy(uses.data(), uses_copy_.data(), uses.size_bytes());
    const CudaStream stream = streams_.ToWatch();
    Status status = CopyToHost(uses_copy_.data(), uses_.data(), uses.size_bytes(), stream);
    if (status.ok()) status = uses_read_.Record(stream);
    return status;
  }

  task::IndexRef index() const override {
    task::IndexRef index{};
    index.older = {buckets_.as<task::Bucket>(), bucket_count_};
    index.move_counts = moves_.as<uint32_t>();  // nothing moves here
    return index;
  }
  task::LogRef log() const override {
    task::LogRef log{};
    log.base = log_.data();
    log.version_bases = bases_.as<uint64_t>();
    log.resident = resident_.as<uint32_t>();
    log.uses = uses_.as<uint32_t>();
    return log;
  }

  Status Launch(std::span<const task::QueryJob> jobs) override {
    if (Status status = SetDevice(number_); !status.ok()) return status;
    if (Status status = SendUpdates(); !status.ok()) return status;
    if (Status status = ClearCounters(jobs.size()); !status.ok()) return status;
    std::array<TableJob, kGroupJobsMax> tables;
    for (size_t i = 0; i < jobs.size(); i++) {
      tables[i] = TableJobOf(jobs[i]);
      tables[i].values_used = counters_.as<uint64_t>() + next_counter_++;
    }
    Result<CudaStream> stream = streams_.NextGroup();
    if (!stream) return stream.error();
    Status status = RunTables(tables.data(), static_cast<uint32_t>(jobs.size()), *stream);
    if (status.ok()) return streams_.GroupBegun();
    // The jobs are not to be written to any more. Where that cannot be waited for the device is
    // lost, and has stopped: that is what counts then.
    const Status waited = WaitForStream(*stream);
    return waited.ok() ? status : waited;
  }

  // A lost device will do no more: TakeOldest tells.
  bool OldestIsDone() override { return !SetDevice(number_).ok() || streams_.OldestIsDone(); }

  Status TakeOldest() override {
    const Status status = SetDevice(number_);
    const Status ended = streams_.TakeOldest();
    return status.ok() ? ended : status;
  }

 private:
  static_assert(kGroupJobsMax <= kTableGroupMax);

  // Sees to it that `count` counters from next_counter_ on are 0 for the next group: all of them
  // at once when they have come to an end, so that hardly any group pays for it.
  Status ClearCounters(size_t count) {
    if (next_counter_ + count <= kCounters) return Status::Ok();
    next_counter_ = 0;
    return Clear(&counters_);
  }

  template <typename T>
  static Status Take(Result<T> created, T* to) {
    if (!created) return created.error();
    *to = std::move(*created);
    return Status::Ok();
  }
  static Status Allot(size_t bytes, DeviceBuffer* to) {
    return Take(DeviceBuffer::Create(bytes), to);
  }

  // Waits until nothing is on its way to the device, and no job under way.
  Status Settle() {
    Status status = FlushTransfer();
    if (status.ok()) status = FlushLines();
    if (status.ok()) status = streams_.Settle();
    return status;
  }

  // Gives up what was dropped, when no job looks at it any more.
  Status DropAll() {
    if (dropped_.empty()) return Status::Ok();
    if (Status status = streams_.Settle(); !status.ok()) return status;
    for (const uint32_t segment : dropped_)
      log_.Drop(segment * segment_bytes_, segment_bytes_ + kReadBehindBytes);
    dropped_.clear();
    return Status::Ok();
  }

  // Objects, then how far segments are there, then lines: no group sees that more is there than
  // is. Lines come last, when Mirror::Advance has said which segments begin anew: a group that sees
  // the entry of an object in one of those must not find what lay there before.
  Status SendUpdates() {
    if (Status status = FlushTransfer(); !status.ok()) return status;
    for (const Residency& each : residency_) {
      Status status = Send(resident_.as<uint32_t>() + each.segment, &each.units, sizeof each.units);
      if (status.ok())
        status = Send(bases_.as<uint64_t>() + each.segment, &each.base, sizeof each.base);
      if (!status.ok()) return status;
    }
    residency_.clear();
    if (Status status = FlushTransfer(); !status.ok()) return status;
    if (lines_.is_empty()) return Status::Ok();
    return lines_.Flush(buckets_.as<task::Bucket>(), streams_.ToChange());
  }

  Status Send(void* to, const void* from, uint64_t bytes) {
    return transfer_.Add(to, from, bytes, streams_.ToChange());
  }
  Status FlushTransfer() {
    if (transfer_.is_empty()) return Status::Ok();
    return transfer_.Flush(streams_.ToChange());
  }
  // Before it is known which segments begin anew.
  Status FlushLines() {
    if (lines_.is_empty()) return Status::Ok();
    Result<CudaStream> stream = streams_.ToReplace();
    if (!stream) return stream.error();
    return lines_.Flush(buckets_.as<task::Bucket>(), *stream);
  }
  Status Clear(DeviceBuffer* buffer) {
    Result<CudaStream> stream = streams_.ToReplace();
    if (!stream) return stream.error();
    return buffer->Fill(0, *stream);
  }

  const int number_;
  PinnedPages pages_;
  Description description_;  // constant after Open
  GroupStreams streams_;
  Transfer transfer_;
  LineTransfer lines_;
  // TableJob::values_used, one a job: on the device, for all lanes add to it.
  DeviceBuffer counters_;
  size_t next_counter_ = kCounters;

  DeviceBuffer buckets_, moves_;
  uint64_t bucket_count_ = 0;

  DeviceRange log_;
  uint64_t segment_bytes_ = 0;
  uint64_t allowed_bytes_ = 0;  // constant after Open
  uint64_t log_bytes_max_ = 0;
  uint32_t segments_max_ = 0;
  std::vector<uint32_t> dropped_;  // that still have their memory
  DeviceBuffer resident_, bases_;
  DeviceBuffer uses_;
  PinnedBuffer uses_copy_;
  Event uses_read_;
  std::vector<Residency> residency_;  // that the device has not been told
};

}  // namespace

Description DescriptionOf(int number, const DeviceFacts& facts) {
  Description description;
  description.name = "cuda:" + std::to_string(number);
  description.hardware = facts.name;
  description.memory = MemoryModel::kMirrored;
  description.memory_bytes = facts.memory_bytes;
  description.units = facts.multiprocessors;
  description.tasks = kRunSearch | kRunCompare | kRunRead;
  description.steals = true;
  return description;
}

Result<std::unique_ptr<MirrorDevice>> OpenCudaMirror(uint32_t number) {
  auto mirror = std::make_unique<CudaMirror>(static_cast<int>(number));
  if (Status status = mirror->Open(); !status.ok()) return status;
  return std::unique_ptr<MirrorDevice>(std::move(mirror));
}

}  // namespace weft::processor
