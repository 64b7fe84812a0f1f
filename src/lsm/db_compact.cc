// The compaction threads: pick, merge, install.
//
// A compaction is picked under the mutex, run as one job or as several parts of disjoint ranges
// without it, and installed by one edit. Parts are run by whichever compaction thread is free; the
// thread that picked runs what nobody else took.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/thread.h"
#include "lsm/db_impl.h"
#include "lsm/file_names.h"
#include "lsm/own_files.h"
#include "lsm/running_compaction.h"

namespace weft::lsm {

namespace {

// Background threads give way to those that wait for an answer, and this one to flushes.
constexpr int kCompactNice = 10;
// A part should be worth a hand-over.
constexpr uint64_t kPartBytesMin = 8u << 20;
// How much of the last measurement goes into the smoothed drain rate.
constexpr double kDrainWeight = 0.3;
constexpr uint64_t kRetryAfterNs = 1'000'000'000;
// The same for want of a descriptor, while writers stand.
constexpr int kRetrySoonMs = 50;

}  // namespace

void DbImpl::CompactionThread() {
  base::SetThreadName("weft-compact");
  base::LowerThreadPriority(kCompactNice);
  mutex_.Lock();
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (RunWaitingPartLocked()) continue;
    std::unique_ptr<RunningCompaction> running = PickLocked();
    if (running != nullptr) {
      RunCompactionLocked(running.get());
      // With it go its inputs, which unmaps them: not while others wait for the mutex.
      mutex_.Unlock();
      running.reset();
      mutex_.Lock();
    } else {
      WaitForCompactionLocked();
    }
  }
  mutex_.Unlock();
}

void DbImpl::WaitForCompactionLocked() {
  threads_idle_++;
  if (retry_compaction_at_ns_ != 0) {  // time may have passed since PickLocked looked
    compact_work_.WaitFor(&mutex_, kRetrySoonMs);
  } else {
    compact_work_.Wait(&mutex_);
  }
  threads_idle_--;
}

std::unique_ptr<DbImpl::RunningCompaction> DbImpl::PickLocked() {
  if (!background_error_.ok() || placing_deep_) return nullptr;
  if (retry_compaction_at_ns_ != 0 && base::NowNs() < retry_compaction_at_ns_) return nullptr;
  retry_compaction_at_ns_ = 0;
  if (manual_.empty()) return PickAutomaticLocked();
  // A CompactRange comes first, but it must not stop the writers: threads that it has no use for,
  // and where level 0 is nearly full every other pick, go on with what is due by itself.
  const size_t level0 = versions_->current()->level(0).size();
  const bool level0_waits = level0 >= static_cast<size_t>(options_.level0_slowdown_trigger);
  if (manual_.front()->running || (level0_waits && !manual_waited_)) {
    std::unique_ptr<RunningCompaction> running = PickAutomaticLocked();
    manual_waited_ = running != nullptr;
    if (running != nullptr) return running;
  }
  manual_waited_ = false;
  return PickManualLocked();
}

std::unique_ptr<DbImpl::RunningCompaction> DbImpl::PickAutomaticLocked() {
  std::unique_ptr<Compaction> picked = picker_->Pick(versions_->current());
  if (picked == nullptr) return nullptr;
  auto running = std::make_unique<RunningCompaction>();
  running->compaction = std::move(picked);
  return running;
}

// The next piece of the oldest CompactRange. While its tables are busy it waits for them.
std::unique_ptr<DbImpl::RunningCompaction> DbImpl::PickManualLocked() {
  ManualCompaction* const manual = manual_.front();
  if (manual->running) return nullptr;
  const std::string_view begin = manual->begin ? std::string_view(*manual->begin) : "";
  const std::string_view end = manual->end ? std::string_view(*manual->end) : "";
  UserKeyRange range;
  if (manual->begin) range.begin = &begin;
  if (manual->end) range.end = &end;
  const VersionRef version = versions_->current();
  CompactionPicker::ManualPick pick =
      manual->rewrite_below
          ? picker_->PickRewrite(version, manual->level, range, *manual->rewrite_below)
          : picker_->PickRange(version, manual->level, range);
  if (pick.busy) return nullptr;
  if (pick.compaction == nullptr) {
    manual->done = true;
    manual_.pop_front();
    compact_done_.NotifyAll();
    compact_work_.NotifyAll();
    return PickLocked();  // for the next one: nobody wakes this thread for it
  }
  manual->running = true;
  auto running = std::make_unique<RunningCompaction>();
  running->compaction = std::move(pick.compaction);
  running->manual = manual;
  running->next_begin = std::move(pick.next_begin);
  return running;
}

void DbImpl::RunCompactionLocked(RunningCompaction* running) {
  Compaction& compaction = *running->compaction;
  running->begin_ns = base::NowNs();
  running->job = versions_->BeginJob();
  const uint64_t number = compactions_begun_++;
  compactions_running_.insert(number);
  VersionEdit edit;
  compaction.AddTo(&edit);
  Status status;
  if (!compaction.trivial_move) status = OwnFileError(MergeLocked(running, &edit));
  if (status.ok()) status = versions_->LogAndApply(&edit, &mutex_);
  running->event.status = status;
  picker_->Release(compaction);
  versions_->EndJob(running->job);
  compactions_running_.erase(number);
  compact_done_.NotifyAll();
  if (status.ok()) {
    InstallViewLocked();
    NoteCompactionLocked(*running);
  } else {
    NoteFailureLocked(status);
  }
  FinishManualLocked(running);
  if (!compaction.trivial_move) {
    events_.Tell([event = running->event](EventListener* each) { each->OnCompactionEnd(event); });
  }
  compaction.version.reset();  // or the inputs would count as needed
  RemoveObsoleteFilesLocked();
  UpdateThrottleLocked();
  room_.NotifyAll();
  compact_work_.NotifyAll();
}

void DbImpl::FinishManualLocked(RunningCompaction* running) {
  ManualCompaction* const manual = running->manual;
  if (manual == nullptr) return;
  manual->running = false;
  const Status& status = running->event.status;
  if (status.ok() && running->next_begin) {
    manual->begin = std::move(running->next_begin);
    return;
  }
  manual->status = status;
  manual->done = true;
  std::erase(manual_, manual);
  compact_done_.NotifyAll();
}

// Merges the inputs into tables and adds those to *edit.
Status DbImpl::MergeLocked(RunningCompaction* running, VersionEdit* edit) {
  Compaction& compaction = *running->compaction;
  const table::SequenceNumber oldest_snapshot = OldestSnapshotLocked();
  mutex_.Unlock();  // the program is asked what has ended: it may use the store
  compaction::Job job = compaction.ToJob(&job_files_, options_, format_, oldest_snapshot);
  mutex_.Lock();
  CompactionEvent& event = running->event;
  event.level = compaction.level;
  event.output_level = compaction.output_level;
  event.device = executor_->Name();
  for (size_t i = 0; i < 2; i++) {
    for (const FileRef& file : compaction.inputs[i]) event.inputs[i].push_back(file->number);
  }
  events_.Tell([event](EventListener* listener) { listener->OnCompactionBegin(event); });
  const int parts_max = static_cast<int>(
      std::min<uint64_t>(compaction.InputBytes() / kPartBytesMin,
                         static_cast<uint64_t>(1 + threads_idle_) * compaction::kPartsPerThread));
  if (threads_idle_ > 0 && parts_max > 1 && !executor_->WantsWhole(job, 1 + threads_idle_)) {
    mutex_.Unlock();
    Result<std::vector<compaction::Job>> parts = compaction::SplitJob(job, parts_max);
    mutex_.Lock();
    if (!parts) return parts.error();
    for (compaction::Job& part : *parts) running->parts.emplace_back(std::move(part));
  } else {
    running->parts.emplace_back(std::move(job));
  }
  RunPartsLocked(running);
  return TakeResultsLocked(running, edit);
}

void DbImpl::RunPartsLocked(RunningCompaction* running) {
  for (size_t i = 1; i < running->parts.size(); i++) waiting_parts_.push_back(&running->parts[i]);
  compact_work_.NotifyAll();
  RunPartLocked(&running->parts[0]);
  for (JobPart& part : running->parts) {
    if (std::erase(waiting_parts_, &part) > 0) RunPartLocked(&part);
  }
  for (JobPart& part : running->parts) {
    while (!part.done) compact_done_.Wait(&mutex_);
  }
}

bool DbImpl::RunWaitingPartLocked() {
  if (waiting_parts_.empty()) return false;
  JobPart* const part = waiting_parts_.front();
  waiting_parts_.pop_front();
  RunPartLocked(part);
  return true;
}

void DbImpl::RunPartLocked(JobPart* part) {
  compaction::JobHost host = HostOf();
  host.threads = 1 + threads_idle_;
  mutex_.Unlock();
  part->result = executor_->Run(part->job, host);
  mutex_.Lock();
  part->done = true;
  compact_done_.NotifyAll();
}

compaction::JobHost DbImpl::HostOf() {
  compaction::JobHost host;
  host.new_output = [this] {
    const uint64_t number = versions_->NewFileNumber();
    return compaction::JobHost::NewFile{number, TableFileName(dir_, number)};
  };
  host.before_write = [this](uint64_t bytes) {
    rate_limiter_.Request(bytes, base::RateLimiter::Priority::kCompaction);
  };
  host.give_way = [this] { flush_first_.GiveWay(); };
  host.cancelled = &stopping_;
  return host;
}

// Adds up what the parts did. After an error the tables of those that ended well are removed.
Status DbImpl::TakeResultsLocked(RunningCompaction* running, VersionEdit* edit) {
  Status status;
  CompactionEvent& event = running->event;
  for (const JobPart& part : running->parts) {
    const compaction::JobResult& result = part.result;
    if (status.ok()) status = result.status;
    event.bytes_read += result.bytes_read;
    event.bytes_written += result.bytes_written;
    event.keys_read += result.entries_read;
    event.keys_dropped += result.entries_dropped;
    running->keys_ended += result.entries_ended;
    event.device = result.done_by;
    if (event.device != "cpu") statistics_.Add(Statistics::kCompactionsByDevice, 1);
    if (!result.left_to_cpu.empty()) {
      statistics_.Add(Statistics::kCompactionsLeftToCpu, 1);
      Log(std::string("the CPU takes over a compaction from ") + executor_->Name() + ": " +
          result.left_to_cpu);
    }
    event.keys_unparsed += result.entries_unparsed;
    for (const compaction::OutputTable& output : result.outputs) {
      event.outputs.push_back(output.number);
      edit->AddFile(running->compaction->output_level, output.number, output.bytes, output.smallest,
                    output.largest);
    }
  }
  mutex_.Unlock();
  if (status.ok() && !event.outputs.empty()) status = job_files_.SyncDir(dir_);
  for (const NewFile& output : edit->new_files) {
    const std::string path = TableFileName(dir_, output.number);
    if (!status.ok()) {
      (void)files_->RemoveFile(path);
      continue;
    }
    events_.Tell([path, bytes = output.bytes](EventListener* listener) {
      listener->OnTableCreated(path, bytes);
    });
  }
  mutex_.Lock();
  event.us = (base::NowNs() - running->begin_ns) / 1000;
  return status;
}

void DbImpl::NoteCompactionLocked(const RunningCompaction& running) {
  const Compaction& compaction = *running.compaction;
  const CompactionEvent& event = running.event;
  compaction_failures_in_row_ = 0;
  want_since_ns_ = 0;
  if (compaction.trivial_move) {
    statistics_.Add(Statistics::kTrivialMoves, 1);
    return;
  }
  statistics_.Add(Statistics::kCompactions, 1);
  statistics_.Add(Statistics::kCompactionBytesRead, event.bytes_read);
  statistics_.Add(Statistics::kCompactionBytesWritten, event.bytes_written);
  statistics_.Add(Statistics::kCompactionKeysRead, event.keys_read);
  statistics_.Add(Statistics::kCompactionKeysDropped, event.keys_dropped);
  statistics_.Add(Statistics::kCompactionKeysEnded, running.keys_ended);
  statistics_.Add(Statistics::kCompactionKeysUnparsed, event.keys_unparsed);
  statistics_.Add(Statistics::kCompactionUs, event.us);
  LevelStatistics& level = level_statistics_[static_cast<size_t>(compaction.output_level)];
  level.us += event.us;
  level.bytes_read += event.bytes_read;
  level.bytes_written += event.bytes_written;
  Log("compacted " + std::to_string(event.inputs[0].size()) + "@" + std::to_string(event.level) +
      " + " + std::to_string(event.inputs[1].size()) + "@" + std::to_string(event.output_level) +
      " tables to " + std::to_string(event.outputs.size()) + ": " +
      std::to_string(event.bytes_read) + " to " + std::to_string(event.bytes_written) + " bytes, " +
      std::to_string(event.keys_dropped) + " of " + std::to_string(event.keys_read) +
      " entries dropped, in " + std::to_string(event.us) + " us");
  if (event.keys_unparsed > 0) {
    Log("kept " + std::to_string(event.keys_unparsed) + " entries whose keys are damaged");
  }
  if (compaction.level > 0) return;
  // How fast level 0 is worked off decides how fast writers may fill it (lsm/write_throttle.h).
  const uint64_t now = base::NowNs();
  const uint64_t since = std::max(running.begin_ns, level0_drained_at_ns_);
  const double seconds = std::max(1e-6, static_cast<double>(now - since) * 1e-9);
  const double rate = static_cast<double>(TotalBytes(compaction.inputs[0])) / seconds;
  drain_rate_ = drain_rate_ == 0 ? rate : drain_rate_ + kDrainWeight * (rate - drain_rate_);
  level0_drained_at_ns_ = now;
}

// The inputs of a failed compaction are as they were. What may pass (a full disk) is tried again.
// A want of descriptors counts by time, and only while writers stand. A damaged table would fail
// every time, and what it holds must not be lost sight of.
void DbImpl::NoteFailureLocked(const Status& status) {
  // Given up, or what failed meanwhile. The code alone says nothing: a file may give any.
  if (stopping_.load(std::memory_order_relaxed) && status.code() == Code::kRetryLater) return;
  statistics_.Add(Statistics::kCompactionFailures, 1);
  Log("compaction failed: " + status.ToString());
  const uint64_t now = base::NowNs();
  const size_t level0 = versions_->current()->level(0).size();
  const bool is_want = status.code() == Code::kRetryLater;
  const bool stops_writers = is_want && level0 >= static_cast<size_t>(options_.level0_stop_trigger);
  if (!is_want) compaction_failures_in_row_++;
  if (stops_writers && want_since_ns_ == 0) want_since_ns_ = now;
  if (status.code() == Code::kCorruption || compaction_failures_in_row_ >= kCompactionFailuresMax ||
      (stops_writers && now - want_since_ns_ >= kWantNsMax)) {
    FailWritesLocked(status);
  } else {
    retry_compaction_at_ns_ = now + (stops_writers ? kRetrySoonMs * 1'000'000 : kRetryAfterNs);
  }
}

}  // namespace weft::lsm
