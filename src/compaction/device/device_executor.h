// compaction/device/device_executor.h: compacts on a device: piece after piece through unpack, sort
// and pack. The files are those of the CPU's executor, byte for byte.
//
// A device may be unable to do a job: orders other than bytewise, filters other than Bloom's, too
// much data. Or to go on with it: damage, too little memory, a lost device. Then the CPU's executor
// does it from the beginning; JobResult::left_to_cpu says why.
//
// Threads   as compaction/job.h says; each Run has its own device.
// Source    the phases are those of paper 001 (LUDA), section 3; running all three on the device,
//           and the exact cut of blocks, are ours (docs/design/0010-gpu-compaction.md).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/crew.h"
#include "compaction/device/piece/pack_piece.h"
#include "compaction/device/piece/piece_flow.h"
#include "compaction/device/piece/table_assembler.h"
#include "compaction/job.h"

namespace weft::compaction::device {

// Why no device can do the job; ok if one may.
Status CanDo(const Job& job);

// Size of the job's pieces: `most`, or less for a small job, so that reading one piece, computing
// another and writing a third overlap.
uint64_t PieceBytesOf(const Job& job, uint64_t most);

// One job, on a device that must outlive it. Device: see compaction/device/plain_device.h.
template <typename Device>
class DeviceRun {
 public:
  // storage: the device's; null: the host reads and writes all files
  DeviceRun(Device* device, DeviceStorage* storage, const Job& job, const JobHost& host)
      : device_(*device),
        storage_(storage),
        job_(job),
        host_(host),
        state_(device, job),
        assembler_(job, host, &storage_),
        compressed_(job.format),
        crew_(std::max(host.threads - kFlowThreads, 0), "weft-compact"),
        pack_host_{.crew = &crew_,
                   .compressed = &compressed_,
                   .begin_tables = nullptr,
                   .storage = &storage_} {
    if (job.files->WritesInPlace() && job.format.compression == Compression::kNone)
      pack_host_.begin_tables = [this](PackedPiece* piece) { assembler_.BeginTables(piece); };
    if (job.verify_outputs && !device->corrects_flips()) again_.emplace(device, job);
  }

  // Ok; or why the CPU must do the job: no file is left then. *failed: the job has failed, by an
  // error that the CPU would meet, too, or one that passes.
  Status Run(uint64_t piece_bytes, JobResult* result, bool* failed);
  // Run has failed, but need not if the host reads the files.
  bool wants_host_reads() const { return wants_host_reads_; }

 private:
  Status RunFlow(uint64_t piece_bytes, JobResult* result, bool* failed);
  Status RunPieces(size_t pieces, PieceFlow* flow, JobResult* result, bool* failed);
  // A piece that is on its way to the device, or there.
  struct SentPiece {
    std::unique_ptr<ReadyPiece> ready;
    std::unique_ptr<typename Device::Upload> upload;  // null: the device has read it

    // Where its blocks are for all kernels run from now on.
    const uint8_t* Await() const {
      if (upload != nullptr) return upload->Await();
      return reinterpret_cast<const uint8_t*>(ready->loaded.on_device);
    }
  };
  // State that one piece leaves to the next, and the part of the job that lies on the device.
  struct State {
    State(Device* device, const Job& job)
        : in_device(device, job), grandparents(job), layout(job), carry(device) {}

    JobInDevice<Device> in_device;
    GrandparentWalk grandparents;
    TableLayout layout;
    Carry<Device> carry;
  };

  // Adds the time until its end.
  class Timed {
   public:
    explicit Timed(uint64_t* us) : us_(us) {}
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed() { *us_ += (base::NowNs() - start_ns_) / 1000; }

   private:
    uint64_t* const us_;
    const uint64_t start_ns_ = base::NowNs();
  };

  SentPiece AwaitPiece(PieceFlow* flow);
  std::unique_ptr<PackedPiece> AwaitRoom(PieceFlow* flow);
  SentPiece Send(std::unique_ptr<ReadyPiece> ready);
  Status RunPiece(const SentPiece& sent, bool is_last, PackedPiece* packed);
  Status RunPhases(const SentPiece& sent, bool is_last, const PackedPiece* first, State* state,
                   PackedPiece* packed);

  Device& device_;
  JobStorage storage_;
  const Job& job_;
  const JobHost& host_;
  State state_;
  // Where each piece is computed twice, to show bits that flip in the device's memory. The second
  // time shares only the blocks with the first; both check those.
  std::optional<State> again_;
  TableAssembler assembler_;
  CompressedBlocks compressed_;
  static constexpr int kFlowThreads = 2;  // PieceFlow's own count among those that the job may have
  base::Crew crew_;
  PackHost pack_host_;
  PhaseTimes phases_;
  bool wants_host_reads_ = false;
};

template <typename Device>
typename DeviceRun<Device>::SentPiece DeviceRun<Device>::Send(std::unique_ptr<ReadyPiece> ready) {
  if (ready == nullptr) return {};
  if (ready->loaded.on_device != nullptr) return {std::move(ready), nullptr};
  auto upload = std::make_unique<typename Device::Upload>(&device_);
  upload->Begin(ready->loaded.ranges);
  return {std::move(ready), std::move(upload)};
}

template <typename Device>
typename DeviceRun<Device>::SentPiece DeviceRun<Device>::AwaitPiece(PieceFlow* flow) {
  Timed timed(&phases_.wait_us);
  return Send(flow->NextPiece());
}

template <typename Device>
std::unique_ptr<PackedPiece> DeviceRun<Device>::AwaitRoom(PieceFlow* flow) {
  Timed timed(&phases_.wait_us);
  return flow->NextRoom();
}

template <typename Device>
Status DeviceRun<Device>::RunPiece(const SentPiece& sent, bool is_last, PackedPiece* packed) {
  Status status = RunPhases(sent, is_last, nullptr, &state_, packed);
  if (!status.ok() || !again_.has_value()) return status;
  PackedPiece second(device_.host_memory());
  status = RunPhases(sent, is_last, packed, &*again_, &second);
  for (PackedPiece* const piece : {packed, &second}) {
    if (status.ok() && piece->ready != nullptr) status = piece->ready();
  }
  if (status.ok() && !second.IsLike(*packed)) status = TwoAnswers();
  return status;
}

template <typename Device>
Status DeviceRun<Device>::RunPhases(const SentPiece& sent, bool is_last, const PackedPiece* first,
                                    State* state, PackedPiece* packed) {
  typename Device::Memory memory(&device_);
  UnpackPiece<Device> unpacked(&device_, &memory, state->in_device);
  const ReadyPiece& ready = *sent.ready;
  Status status;
  {
    Timed timed(&phases_.unpack_us);
    status = unpacked.Run(ready.piece, ready.loaded, sent.Await(), state->carry);
    wants_host_reads_ |= unpacked.is_mistyped;
    if (!status.ok()) return status;
  }
  SortPiece<Device> sorted(&device_, &memory, job_, state->in_device);
  {
    Timed timed(&phases_.sort_us);
    status = sorted.Run(unpacked, state->carry, &state->grandparents);
    if (!status.ok()) return status;
  }
  Timed timed(&phases_.pack_us);
  packed->entries_read = unpacked.entry_count;
  packed->entries_dropped = unpacked.entry_count - sorted.kept;
  packed->entries_ended = sorted.found.ended;
  packed->entries_unparsed = sorted.found.unparsed;
  PackPiece<Device> pack(&device_, &memory, job_, state->in_device, pack_host_,
                         {again_.has_value(), first});
  return pack.Run(unpacked.entries, sorted, is_last, &state->layout, packed, &state->carry);
}

template <typename Device>
Status DeviceRun<Device>::RunPieces(size_t pieces, PieceFlow* flow, JobResult* result,
                                    bool* failed) {
  SentPiece sent = AwaitPiece(flow);
  for (size_t i = 0; i < pieces; i++) {
    if (host_.cancelled != nullptr && host_.cancelled->load(std::memory_order_relaxed)) {
      *failed = true;
      return {Code::kRetryLater, "compaction cancelled"};
    }
    if (host_.give_way != nullptr) host_.give_way();
    std::unique_ptr<PackedPiece> packed = AwaitRoom(flow);
    if (sent.ready == nullptr || packed == nullptr) return Status::Ok();  // the flow knows why
    SentPiece next = Send(flow->NextPieceIfLoaded());
    Status status = RunPiece(sent, i + 1 == pieces, packed.get());
    // From now on, the memory that the kernels read may be read into.
    if (status.ok() && sent.upload == nullptr) status = device_.Await();
    if (!status.ok()) {
      device_.Drain();  // nothing given back here is used any more
      return status;
    }
    result->entries_read += packed->entries_read;
    result->entries_dropped += packed->entries_dropped;
    result->entries_ended += packed->entries_ended;
    result->entries_unparsed += packed->entries_unparsed;
    flow->Pass(std::move(sent.ready), std::move(packed));
    if (next.ready == nullptr && i + 1 < pieces) next = AwaitPiece(flow);
    sent = std::move(next);
  }
  return Status::Ok();
}

template <typename Device>
Status DeviceRun<Device>::RunFlow(uint64_t piece_bytes, JobResult* result, bool* failed) {
  if (job_.first_user_key.has_value() && job_.end_user_key.has_value() &&
      *job_.first_user_key >= *job_.end_user_key) {
    return Status::Ok();  // no key is between them
  }
  Result<std::unique_ptr<PiecePlan>> plan =
      PiecePlan::Make(job_, PieceBytesOf(job_, piece_bytes), &crew_);
  if (!plan) return plan.error();
  PieceFlow flow(plan->get(), &assembler_, &crew_, device_.host_memory(), &storage_);
  Status status = RunPieces((*plan)->pieces(), &flow, result, failed);
  flow.Finish();
  storage_.Close();
  result->bytes_read = (*plan)->bytes_read() + flow.bytes_read();
  result->bytes_read_by_device = storage_.bytes_read();
  result->bytes_written_by_device = storage_.bytes_written();
  phases_.load_us = flow.load_ns() / 1000;
  phases_.write_us = flow.write_ns() / 1000;
  result->cpu_us = (flow.cpu_ns() + crew_.cpu_ns()) / 1000;
  if (!flow.write_status().ok()) {
    // Damage means that verifying our own files failed.
    *failed = flow.write_status().code() != Code::kCorruption;
    return flow.write_status();
  }
  if (status.ok()) status = flow.device_status();
  return status.ok() ? flow.load_status() : status;
}

template <typename Device>
Status DeviceRun<Device>::Run(uint64_t piece_bytes, JobResult* result, bool* failed) {
  Status status = RunFlow(piece_bytes, result, failed);
  if (status.code() == Code::kRetryLater) *failed = true;  // that says nothing of the device
  OutputFiles* const files = assembler_.files();
  if (status.ok()) {
    result->outputs = files->TakeTables();
  } else {
    files->RemoveAll();
  }
  result->bytes_written = files->bytes_written();
  result->verify_us = files->verify_us();
  phases_.upload_us = device_.copy_times().in_ns / 1000;
  phases_.download_us = device_.copy_times().out_ns / 1000;
  result->phases = phases_;
  return status;
}

// Makes a device for each job.
template <typename Device>
using DeviceMaker = std::function<Result<std::unique_ptr<Device>>()>;

template <typename Device>
class DeviceExecutor final : public Executor {
 public:
  // memory: as Executor::memory says, for what `make` holds.
  DeviceExecutor(std::string name, uint64_t piece_bytes, DeviceMaker<Device> make,
                 base::BufferMemory* memory = nullptr)
      : name_(std::move(name)),
        piece_bytes_(piece_bytes),
        make_(std::move(make)),
        memory_(memory),
        cpu_(NewCpuExecutor()) {}

  const char* Name() const override { return name_.c_str(); }
  bool WantsWhole(const Job& job, int) const override { return CanDo(job).ok(); }
  base::BufferMemory* memory() override { return memory_; }

  JobResult Run(const Job& job, const JobHost& host) override {
    const uint64_t start_ns = base::NowNs();
    const uint64_t start_cpu_ns = base::ThreadCpuNs();
    JobResult result;
    bool failed = false;
    Status status = CanDo(job);
    if (status.ok()) status = RunOnDevice(job, host, &result, &failed);
    const uint64_t others_cpu_us = result.cpu_us;
    if (!status.ok() && !failed) {
      result = cpu_->Run(job, host);
      result.left_to_cpu = status.ToString();
    } else {
      result.status = std::move(status);
      result.done_by = Name();
    }
    result.wall_us = (base::NowNs() - start_ns) / 1000;
    result.cpu_us = others_cpu_us + (base::ThreadCpuNs() - start_cpu_ns) / 1000;
    return result;
  }

 private:
  // A device that reads files itself may find other bytes than it expects. Then the host reads them
  // before the CPU has to do the job.
  Status RunOnDevice(const Job& job, const JobHost& host, JobResult* result, bool* failed) {
    bool again = false;
    Status status = RunOnNew(job, host, true, result, failed, &again);
    if (!again) return status;
    const uint64_t cpu_us = result->cpu_us;
    *result = {};
    status = RunOnNew(job, host, false, result, failed, &again);
    result->cpu_us += cpu_us;
    return status;
  }
  Status RunOnNew(const Job& job, const JobHost& host, bool may_read, JobResult* result,
                  bool* failed, bool* again) {
    Result<std::unique_ptr<Device>> device = make_();
    if (!device) return device.error();
    // If outputs are compressed, so are inputs, as a rule.
    const bool reads = may_read && job.format.compression == Compression::kNone;
    DeviceRun<Device> run(device->get(), reads ? (*device)->storage() : nullptr, job, host);
    Status status = run.Run(piece_bytes_, result, failed);
    *again = run.wants_host_reads() && may_read && !status.ok() && !*failed;
    return status;
  }

  const std::string name_;
  const uint64_t piece_bytes_;
  const DeviceMaker<Device> make_;
  base::BufferMemory* const memory_;
  const std::unique_ptr<Executor> cpu_;
};

}  // namespace weft::compaction::device
