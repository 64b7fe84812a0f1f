#include "bench/drive/load.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/thread.h"
#include "bench/drive/load_thread.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr double kBusyMax = 0.97;
// A hundredth of what was due left so late: the latencies are the client's in part.
constexpr uint64_t kLagMaxNs = 1'000'000;
constexpr uint64_t kStartNs = 2'000'000;  // until all threads run
constexpr auto kLook = std::chrono::milliseconds(5);

// All that one thread has.
struct Member {
  std::unique_ptr<OperationStream> stream;
  std::unique_ptr<LoadThread> work;
  std::unique_ptr<Recorder> recorder;
  std::optional<Arrivals> arrivals;
  Status status;
};

class Run {
 public:
  Run(Target* target, const OperationMix& mix, RecordSpace* space, const LoadOptions& options,
      const LoadEvents& events)
      : target_(*target),
        mix_(mix),
        space_(*space),
        options_(options),
        events_(events),
        board_(options.threads, options.slice_s) {}

  Status Open();
  Result<LoadFigures> Go();

 private:
  void RunMember(size_t index);
  void Attend();
  LoadFigures Collect();

  Target& target_;
  const OperationMix& mix_;
  RecordSpace& space_;
  const LoadOptions& options_;
  const LoadEvents& events_;
  SliceBoard board_;
  LoadWindow window_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> running_ = 0;
  std::vector<Member> members_;
  uint64_t ended_ns_ = 0;
};

Status Run::Open() {
  WEFT_CHECK(options_.operations == 0 || !options_.rate);
  members_.resize(static_cast<size_t>(options_.threads));
  const auto threads = static_cast<uint32_t>(options_.threads);
  for (uint32_t i = 0; i < threads; i++) {
    Member& member = members_[i];
    member.stream = std::make_unique<OperationStream>(mix_, &space_, options_.seed, i, threads);
    member.work = std::make_unique<LoadThread>(options_, member.stream.get(), &stop_);
    if (options_.rate) member.arrivals.emplace(*options_.rate, options_.seed, i, threads);
    const bool has_more = i < static_cast<uint32_t>(options_.more_sessions);
    const uint64_t share = (options_.operations + threads - 1 - i) / threads;
    Status status = member.work->Open(&target_, options_.sessions + (has_more ? 1 : 0),
                                      options_.operations == 0 ? UINT64_MAX : share);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

void Run::RunMember(size_t index) {
  if (!options_.cpus.empty()) PinTo(0, {options_.cpus[index % options_.cpus.size()]});
  Member& member = members_[index];
  member.status = member.work->Run(window_, member.recorder.get(),
                                   member.arrivals ? &*member.arrivals : nullptr);
  running_--;
}

Result<LoadFigures> Run::Go() {
  window_.start_ns = base::NowNs() + kStartNs;
  window_.begin_ns = window_.start_ns + static_cast<uint64_t>(options_.warmup_s * 1e9);
  if (options_.seconds > 0)
    window_.end_ns = window_.begin_ns + static_cast<uint64_t>(options_.seconds * 1e9);
  for (Member& member : members_)
    member.recorder =
        std::make_unique<Recorder>(window_.begin_ns, window_.end_ns, options_.slice_s, &board_);
  running_ = options_.threads;
  std::vector<std::thread> threads;
  Status started;
  for (size_t i = 0; i < members_.size() && started.ok(); i++) {
    auto thread = base::StartThread([this, i] { RunMember(i); });
    if (thread) {
      threads.push_back(std::move(*thread));
    } else {
      started = thread.error();
      running_ -= static_cast<int>(members_.size() - i);
      stop_ = true;
    }
  }
  Attend();
  for (std::thread& thread : threads) thread.join();
  if (!started.ok()) return started;
  for (const Member& member : members_) {
    if (!member.status.ok()) return member.status;
  }
  return Collect();
}

// Tells what happens until all threads have ended.
void Run::Attend() {
  bool has_begun = false, has_ended = false;
  const auto tell = [](const std::function<void()>& what) {
    if (what) what();
  };
  const auto tell_slices = [&] {
    for (const EndedSlice& slice : board_.TakeEnded()) {
      if (events_.slice_ended) events_.slice_ended(slice.row, slice.latency_ns);
    }
  };
  while (running_ > 0) {
    std::this_thread::sleep_for(kLook);
    const uint64_t now_ns = base::NowNs();
    if (!has_begun && now_ns >= window_.begin_ns) {
      has_begun = true;
      tell(events_.counting_begins);
    }
    tell_slices();
    tell(events_.meanwhile);
    if (!has_ended && !options_.rate && now_ns >= window_.end_ns) {
      has_ended = true;
      tell(events_.counting_ends);
    }
  }
  ended_ns_ = base::NowNs();
  // Whoever ended before others had nothing in the slices since.
  for (Member& member : members_) member.recorder->End(ended_ns_);
  tell(events_.meanwhile);
  if (!has_begun) tell(events_.counting_begins);
  tell_slices();
  if (!has_ended) tell(events_.counting_ends);
}

LoadFigures Run::Collect() {
  LoadFigures result;
  const uint64_t end_ns = std::min(window_.end_ns, ended_ns_);
  result.seconds = static_cast<double>(end_ns - std::min(end_ns, window_.begin_ns)) * 1e-9;
  for (const Member& member : members_) {
    const Recorder& recorder = *member.recorder;
    for (size_t kind = 0; kind < recorder.by_kind().size(); kind++) {
      result.by_kind[kind].Merge(recorder.by_kind()[kind]);
      result.latency_ns.Merge(recorder.by_kind()[kind]);
    }
    result.outcomes.Merge(recorder.outcomes());
    result.records += recorder.records();
    if (options_.rate && recorder.last_end_ns() > window_.begin_ns)
      result.seconds = std::max(
          result.seconds, static_cast<double>(recorder.last_end_ns() - window_.begin_ns) * 1e-9);
    result.lag_ns.Merge(recorder.lag_ns());
    result.cpu_s += member.work->cpu_s();
    if (member.work->counted_s() > 0)
      result.busy = std::max(result.busy, member.work->cpu_s() / member.work->counted_s());
  }
  result.operations = result.latency_ns.count();
  result.slices = board_.Rows();
  return result;
}

}  // namespace

bool LoadFigures::ClientSaturated(const Target& target, bool is_open_loop) const {
  if (is_open_loop) return lag_ns.count() > 0 && lag_ns.Percentile(99) > kLagMaxNs;
  return !target.is_embedded() && busy > kBusyMax;
}

Result<LoadFigures> RunLoad(Target* target, const OperationMix& mix, RecordSpace* space,
                            const LoadOptions& options, const LoadEvents& events) {
  Run run(target, mix, space, options, events);
  Status status = run.Open();
  if (!status.ok()) return status;
  return run.Go();
}

}  // namespace weft::bench
