#include "planner/job_feeder.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/for_ever.h"
#include "base/ticks.h"

namespace weft::planner {
namespace {

constexpr uint64_t kSlotsMax = 256;
constexpr uint64_t kColumnsBytes = 128;   // of a query, about
constexpr uint64_t kStoppedMsMax = 1000;  // for jobs under way

}  // namespace

Result<std::unique_ptr<JobFeeder>> JobFeeder::Create(const SyntheticStore* at,
                                                     const JobTraffic& traffic, uint32_t number) {
  // The constructor is private so that no feeder exists without its jobs; owned at once.
  std::unique_ptr<JobFeeder> feeder(new JobFeeder(at, traffic));
  feeder->session_ = at->store->NewSession();
  if (feeder->session_ == nullptr) return Status(Code::kNoMemory, "too many sessions");
  if (Status status = feeder->AddSlots(number); !status.ok()) return status;
  return feeder;
}

JobFeeder::~JobFeeder() {
  if (under_way_.empty()) return;
  base::KeepForEver(std::shared_ptr<cache::Session>(std::move(session_)));
  base::KeepForEver(std::make_shared<std::vector<Slot>>(std::move(slots_)));
}

// All that fit the memory; no more than there are keys.
uint32_t JobFeeder::SlotCount() const {
  const uint64_t query_bytes = kColumnsBytes + at_->key_bytes + at_->value.size();
  const uint64_t queries = uint64_t{traffic_.feeders} * traffic_.queries;
  const uint64_t fit = std::min(at_->slots_bytes / query_bytes, at_->objects) / queries;
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(fit, traffic_.jobs, std::max<uint64_t>(kSlotsMax, traffic_.jobs)));
}

Status JobFeeder::AddSlots(uint32_t number) {
  const uint32_t slots = SlotCount();
  const std::vector<SyntheticRequest> requests =
      MakeRequests({}, at_->objects, slots * traffic_.queries, 1000 + number);
  pipeline::BatchOptions options;
  options.queries_max = traffic_.queries;
  if ((traffic_.tasks & kRunRead) != 0)
    options.gather_bytes =
        uint64_t{traffic_.queries} * (kGatherHeaderBytes + at_->value.size() + 8);
  options.pages = traffic_.device->pages();
  std::vector<char> key(at_->key_bytes);
  size_t next = 0;
  for (uint32_t i = 0; i < slots; i++) {
    auto batch = pipeline::Batch::Create(pipeline::Plan::OneStageCpu(), options);
    if (!batch) return batch.error();
    const uint32_t source = (*batch)->AddSource(INT64_MAX / 2);
    for (uint32_t q = 0; q < traffic_.queries; q++, next++) {
      WriteKey(requests[next].key, key.data(), at_->key_bytes);
      const std::string_view text(key.data(), key.size());
      (*batch)->AddRead(source, 0, text, at_->store->HashOf(text));
    }
    (*batch)->WantOfAll(kWantsRead);
    slots_.push_back({std::move(*batch), std::make_unique<processor::Job>()});
  }
  return Status::Ok();
}

Status JobFeeder::Feed(uint64_t until_ns, LoadFigures* figures) {
  if (!under_way_.empty()) return {Code::kDeviceLost, "some of its jobs were abandoned"};
  session_->BeginReading();
  const uint64_t start_ns = looked_ns_ = base::NowNs();
  waited_ns_ = 0;
  Status status;
  // One job at least: what was not measured would count as nothing.
  for (bool is_first = true;; is_first = false) {
    if (status.ok() && IsToStop()) status = {Code::kRetryLater, "it was stopped"};
    const bool begins = status.ok() && (is_first || base::NowNs() < until_ns);
    if (!begins && under_way_.empty()) break;
    const Status ended = EndDone(figures);
    if (status.ok()) status = ended;
    // In its epoch: what the jobs may look at stays.
    if (IsOverdue()) return LeaveJobs(figures);
    while (begins && status.ok() && under_way_.size() < traffic_.jobs) {
      Slot* const slot = &slots_[next_];
      if (slot->started != 0) break;  // later ones have overtaken it
      status = Start(slot);
      if (!status.ok()) break;
      under_way_.push_back(slot);
      next_ = (next_ + 1) % slots_.size();
    }
    std::this_thread::yield();
  }
  session_->End();
  figures->wall_ns += static_cast<double>(base::NowNs() - start_ns);
  return status;
}

// Ends the jobs that are done. The first error of one.
Status JobFeeder::EndDone(LoadFigures* figures) {
  Status status;
  for (size_t i = under_way_.size(); i-- > 0;) {
    if (!under_way_[i]->job->done()) continue;
    const Status ended = End(under_way_[i], figures);
    if (status.ok()) status = ended;
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
    waited_ns_ = 0;
  }
  return status;
}

// Of the time in which it did not look little counts: then it may be this process that did not run,
// and not the device.
bool JobFeeder::IsOverdue() {
  constexpr uint64_t kUnseenNsMax = 1'000'000'000;
  const uint64_t now_ns = base::NowNs();
  const uint64_t unseen_ns = now_ns - std::exchange(looked_ns_, now_ns);
  waited_ns_ = under_way_.empty() ? 0 : waited_ns_ + std::min(unseen_ns, kUnseenNsMax);
  const uint64_t ms_max =
      IsToStop() ? std::min<uint64_t>(kStoppedMsMax, traffic_.job_ms_max) : traffic_.job_ms_max;
  return waited_ns_ >= ms_max * 1'000'000;
}

// Leaves the jobs that are not done after all.
Status JobFeeder::LeaveJobs(LoadFigures* figures) {
  std::deque<Slot*> left;
  for (Slot* const slot : std::exchange(under_way_, {})) {
    slot->job->sets.TakeFront(UINT32_MAX);  // a mirrored device finds nothing more to begin
    if (slot->job->Leave()) {
      left.push_back(slot);
    } else {
      (void)End(slot, figures);  // too late in any case
    }
  }
  under_way_ = std::move(left);
  Status status(Code::kDeviceLost, traffic_.device->description().name +
                                       ": a job of the measurement has not ended within " +
                                       std::to_string(waited_ns_ / 1'000'000) + " ms");
  if (under_way_.empty()) {
    session_->End();
  } else {
    traffic_.device->Leave(status);
  }
  return status;
}

Status JobFeeder::Start(Slot* slot) {
  pipeline::Batch& batch = *slot->batch;
  batch.ClearGathered();
  batch.ForgetResults();
  task::QueryJob& query = slot->job->query;
  query = batch.AsJob();
  query.index = session_->index();
  query.log = session_->log();
  query.tasks = traffic_.tasks;
  query.now_s = session_->now_s();
  query.object_bytes = at_->store->expected_object_bytes();
  query.set_claims = nullptr;  // nobody takes a part of it
  const processor::MemoryModel memory = traffic_.device->description().memory;
  query.sparse_entries = memory == processor::MemoryModel::kMirrored ? 1 : 0;
  const uint64_t now = base::ReadTicks();
  Status status = traffic_.device->Start(slot->job.get());
  if (status.ok()) slot->started = now;
  return status;
}

Status JobFeeder::End(Slot* slot, LoadFigures* figures) {
  traffic_.device->Note(*slot->job);
  const uint64_t ticks = slot->job->ended_ticks() - slot->started;
  slot->started = 0;
  figures->job_ns += static_cast<double>(base::NsOfTicks(ticks));
  figures->jobs++;
  figures->queries += traffic_.queries;
  return slot->job->status();
}

}  // namespace weft::planner
