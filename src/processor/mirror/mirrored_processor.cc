#include "processor/mirror/mirrored_processor.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/for_ever.h"
#include "base/thread.h"
#include "base/ticks.h"
#include "processor/mirror/group_size.h"
#include "processor/mirror/mirror.h"

namespace weft::processor {
namespace {

// Some sets of a job, under way.
struct Part {
  Job* job;
  SetShare::Range sets;
};

// Parts of different jobs that the device runs together.
struct Group {
  std::vector<Part> parts;
  uint64_t queries = 0;
  bool is_shared = false;     // its jobs are
  uint64_t launched = 0;      // ticks
  uint64_t spent_before = 0;  // Runner::spent_ then
};

// The part's queries as the device is to see them. What it gathers has its share of the room.
task::QueryJob QueryOf(const Part& part) {
  const task::QueryJob& whole = part.job->query;
  const uint32_t sets = task::SetCount(whole);
  const auto room_before = [&](uint32_t set) {
    const uint64_t room = whole.values_capacity - whole.values_begin;
    if (set == sets) return whole.values_capacity;
    return whole.values_begin + (static_cast<uint32_t>(room * set / sets) & ~3u);
  };
  task::QueryJob query = whole;
  query.begin = task::SetBegin(whole, part.sets.begin);
  query.end = task::SetEnd(whole, part.sets.end - 1);
  query.values_begin = room_before(part.sets.begin);
  query.values_capacity = room_before(part.sets.end);
  return query;
}

// The jobs that wait, and the thread that runs them; from Attach to Detach.
//
// Jobs are begun in their order, so of those that wait at most the first has parts under way.
class Runner {
 public:
  // `is_behind`: what Processor::is_behind says, kept here.
  Runner(MirrorDevice* device, cache::Store* store, uint64_t (*now_ns)(),
         std::atomic<bool>* is_behind)
      : device_(device),
        store_(store),
        now_ns_(now_ns),
        is_behind_(is_behind),
        mirror_(store, device, {.now_ns = now_ns}) {}
  // REQUIRES: it was not opened, or Stop has said true
  ~Runner() {
    if (thread_.joinable()) thread_.join();
  }

  Status Open() {
    base::MutexLock lock(&following_);
    if (Status status = mirror_.Open(); !status.ok()) return status;
    session_ = store_->NewSession();
    if (session_ == nullptr) return {Code::kNoMemory, "too many sessions to follow the store"};
    auto thread = base::StartThread([this] {
      base::SetThreadName("weft-mirror");
      Run();
      base::MutexLock ended_lock(&mutex_);
      has_ended_ = true;
      ended_.NotifyAll();
    });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return Status::Ok();
  }

  // Waits until all jobs that it has taken have ended. False: it was given up, and its thread waits
  // for the device, perhaps for ever.
  bool Stop(int given_up_ms_max) {
    base::MutexLock lock(&mutex_);
    stopping_ = true;
    work_.NotifyAll();
    while (thread_.joinable() && !has_ended_) {
      if (!is_given_up_.load(std::memory_order_relaxed)) {
        ended_.Wait(&mutex_);
      } else if (!ended_.WaitFor(&mutex_, given_up_ms_max)) {
        return has_ended_;
      }
    }
    return true;
  }

  // REQUIRES: no job is under way
  Status CatchUp() {
    follow_until_ns_ = 0;
    base::MutexLock lock(&following_);
    // What was being written when an Advance came is copied by the second one after it. While the
    // index grows there is nothing to copy, and that may be so until somebody changes the store.
    constexpr uint32_t kIdleMin = 3;
    constexpr uint32_t kNotReadyMax = 1000;
    uint32_t idle = 0;
    for (uint32_t not_ready = 0; idle < kIdleMin && not_ready < kNotReadyMax;) {
      const uint64_t before = mirror_.counters().log_bytes + mirror_.counters().index_lines;
      Result<bool> ready = FollowLocked();
      if (!ready) return ready.error();
      const uint64_t copied = mirror_.counters().log_bytes + mirror_.counters().index_lines;
      idle = *ready && copied == before ? idle + 1 : 0;
      not_ready += !*ready && copied == before;
    }
    content_until_ns_ = 0;  // everything is there
    is_behind_->store(false, std::memory_order_relaxed);
    return Status::Ok();
  }

  // The device does not end what it began: its jobs are their owners'.
  void GiveUp() {
    is_given_up_.store(true, std::memory_order_relaxed);
    base::MutexLock lock(&mutex_);
    work_.NotifyAll();
    ended_.NotifyAll();  // Stop waits otherwise now
  }

  void Take(Job* job) {
    job->Begin();
    job->parts_under_way = 0;
    job->failure = Status::Ok();
    base::MutexLock lock(&mutex_);
    job->sets.Open(task::SetCount(job->query), job->query.set_claims != nullptr);
    waiting_.push_back(job);
    waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
    work_.NotifyOne();
  }

 private:
  // Looks at the device between two looks at jobs that their owners may have taken.
  static constexpr uint32_t kLooks = 16;
  // While there are no jobs, and for so long after the last one.
  static constexpr int kFollowEveryMs = 1;
  static constexpr uint64_t kFollowForNs = 1'000'000'000;
  // So many bytes of objects may be missing when a job comes, for else it and those behind it had
  // better be done by others, until no more than so many are.
  static constexpr uint64_t kObjectsFar = 64u << 20;
  static constexpr uint64_t kObjectsNear = 8u << 20;
  // After having been behind in vain.
  static constexpr uint64_t kContentNs = 10'000'000'000;

  void Run() {
    for (uint32_t looks = 0;;) {
      if (is_given_up_.load(std::memory_order_relaxed)) return EndWaiting();
      // First: where all that waits has been launched already, each launch makes those wait longer
      // that are done.
      if (!under_way_.empty() && device_->OldestIsDone()) FinishDone();
      const bool is_idle = under_way_.empty();
      Group group;
      if (HasPlace() && !NextGroup(is_idle, &group)) return;
      if (!group.parts.empty()) {
        Begin(std::move(group));
      } else if (is_idle) {
        FollowIdly();
      } else {
        if (++looks % kLooks == 0) FinishTaken();
        std::this_thread::yield();
      }
    }
  }

  bool HasPlace() const {
    const bool are_shared = !under_way_.empty() && under_way_.back().is_shared;
    const uint32_t places = device_->groups_max();
    return under_way_.size() < (are_shared ? std::min(kSharedGroups, places) : places);
  }

  Result<bool> FollowLocked() WEFT_REQUIRES(following_) {
    session_->Begin();
    Result<bool> ready = mirror_.Advance(session_->index(), session_->log());
    session_->End();
    return ready;
  }

  // So that the next job finds a mirror that is up to date, and does not wait for all that was
  // stored since the last one. What fails here fails for that job again, which says so.
  void FollowIdly() {
    base::MutexLock lock(&following_);
    const bool was_behind = is_behind_->load(std::memory_order_relaxed);
    // CatchUp came while this thread was on its way here: what was stored since is nobody's.
    if (!was_behind && follow_until_ns_ == 0) return;
    const Result<bool> ready = FollowLocked();
    if (!ready) follow_until_ns_ = 0;
    if (!was_behind) return;
    const uint64_t now_ns = now_ns_();
    const bool lacks_objects = mirror_.bytes_behind() > kObjectsNear;
    if (ready && (mirror_.is_behind() || lacks_objects) && now_ns < behind_until_ns_) return;
    // They come faster than they are copied: so much is there.
    if (lacks_objects) content_until_ns_ = now_ns + kContentNs;
    is_behind_->store(false, std::memory_order_relaxed);
  }

  // Jobs that wait would wait for it to catch up: their owners do them.
  void FallBehind() {
    if (!is_behind_->load(std::memory_order_relaxed)) behind_until_ns_ = now_ns_() + kFollowForNs;
    is_behind_->store(true, std::memory_order_relaxed);
    EndWaiting();
  }

  // Jobs that wait end without what the device has not begun.
  void EndWaiting() {
    std::vector<Job*> ended;
    {
      base::MutexLock lock(&mutex_);
      for (Job* job : waiting_) {
        job->sets.TakeFront(UINT32_MAX);
        if (job->parts_under_way == 0) ended.push_back(job);
      }
      waiting_.clear();
      waiting_count_.store(0, std::memory_order_release);
    }
    for (Job* job : ended) job->Finish(job->failure);
  }

  // Sets of jobs that wait, for the device: perhaps none. `waits`: until there is a job, or it is
  // time to follow the store without one. False: there will be none any more.
  bool NextGroup(bool waits, Group* group) {
    if (!waits && waiting_count_.load(std::memory_order_acquire) == 0) return true;
    std::vector<Job*> ended;
    bool goes_on = true;
    {
      base::MutexLock lock(&mutex_);
      if (waits) WaitForJobLocked();
      goes_on = !waits || !waiting_.empty() || !stopping_;
      uint32_t room = size_.sets();
      while (!waiting_.empty() && room != 0 && group->parts.size() < MirrorDevice::kGroupJobsMax) {
        Job* const job = waiting_.front();
        if (!group->parts.empty() && !GoTogether(*group->parts[0].job, *job)) break;
        const bool is_shared = job->sets.from_back();
        const SetShare::Range sets = job->sets.TakeFront(is_shared ? room : UINT32_MAX);
        if (!sets.empty()) {
          job->parts_under_way++;
          group->parts.push_back({job, sets});
          group->queries += uint64_t{sets.end - sets.begin} * kSetQueries;
          group->is_shared |= is_shared;
          if (is_shared) room -= sets.end - sets.begin;
        }
        if (!job->sets.empty()) continue;  // then there is no more room
        waiting_.pop_front();
        if (job->parts_under_way == 0) ended.push_back(job);
      }
      waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
    }
    for (Job* job : ended) job->Finish(job->failure);
    return goes_on;
  }

  void WaitForJobLocked() WEFT_REQUIRES(mutex_) {
    if (is_behind_->load(std::memory_order_relaxed)) return;
    const bool follows = now_ns_() < follow_until_ns_;
    while (waiting_.empty() && !stopping_ && !is_given_up_.load(std::memory_order_relaxed)) {
      if (!follows) {
        work_.Wait(&mutex_);
      } else if (!work_.WaitFor(&mutex_, kFollowEveryMs)) {
        return;
      }
    }
  }

  static bool GoTogether(const Job& a, const Job& b) {
    return a.query.tasks == b.query.tasks &&
           a.query.index.older.buckets == b.query.index.older.buckets &&
           a.query.index.newer.buckets == b.query.index.newer.buckets &&
           a.query.log.flush_floor == b.query.log.flush_floor;
  }

  void Begin(Group group) {
    follow_until_ns_ = now_ns_() + kFollowForNs;
    const uint64_t start = base::ReadTicks();
    Launch(std::move(group));
    spent_ += base::ReadTicks() - start;
  }

  void Launch(Group group) {
    Status status;
    bool is_behind = false;
    if (LaunchOnMirror(&group, &status, &is_behind)) {
      under_way_.push_back(std::move(group));
      return;
    }
    if (is_behind) FallBehind();  // before its jobs end: who began them looks at it then
    GiveUp(group, status);
  }

  // False: the jobs end without it; where that is a failure, with *status.
  bool LaunchOnMirror(Group* group, Status* status, bool* is_behind) {
    base::MutexLock lock(&following_);
    const task::QueryJob& first = group->parts[0].job->query;
    Result<bool> ready = mirror_.Advance(first.index, first.log);
    if (!ready) {
      // Without memory for a table that has grown there is no mirror, which is no failure.
      if (ready.error().code() != Code::kNoMemory) *status = ready.error();
      return false;
    }
    *is_behind = mirror_.is_behind();
    *is_behind |= mirror_.bytes_behind() > kObjectsFar && now_ns_() >= content_until_ns_;
    if (!*ready || *is_behind) return false;
    is_behind_->store(false, std::memory_order_relaxed);
    std::vector<task::QueryJob> jobs;
    for (const Part& part : group->parts) mirror_.Replace(&jobs.emplace_back(QueryOf(part)));
    group->launched = base::ReadTicks();
    group->spent_before = spent_;
    *status = device_->Launch(jobs);
    return status->ok();
  }

  // REQUIRES: the oldest group is done
  void FinishDone() {
    const uint64_t now = base::ReadTicks();
    // Groups behind it were launched meanwhile, in time that is not the device's.
    const Group& oldest = under_way_.front();
    const uint64_t took = now - std::max(oldest.launched, last_taken_);
    const uint64_t spent = spent_ - std::max(oldest.spent_before, spent_when_taken_);
    last_taken_ = now;
    spent_when_taken_ = spent_;
    uint64_t queries = 0;
    do {
      if (under_way_.front().is_shared) queries += under_way_.front().queries;
      FinishOldest();
    } while (!under_way_.empty() && device_->OldestIsDone());
    size_.Learn(queries, took - std::min(took, spent));
  }

  void FinishOldest() {
    const Status status = device_->TakeOldest();
    const Group group = std::move(under_way_.front());
    under_way_.pop_front();
    if (!status.ok()) return GiveUp(group, status);
    EndParts(group);
  }

  // The jobs end without what is left of them: their owners do it. With an error, they fail.
  void GiveUp(const Group& group, const Status& status) {
    for (const Part& part : group.parts) {
      part.job->sets.TakeFront(UINT32_MAX);
      if (!status.ok()) part.job->failure = status;
    }
    EndParts(group);
  }

  void EndParts(const Group& group) {
    std::vector<Job*> ended;
    {
      base::MutexLock lock(&mutex_);
      for (const Part& part : group.parts) {
        if (--part.job->parts_under_way != 0) continue;
        const bool waits = !waiting_.empty() && waiting_.front() == part.job;
        if (waits && !part.job->sets.empty()) continue;
        if (waits) waiting_.pop_front();
        ended.push_back(part.job);
      }
      waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
    }
    for (Job* job : ended) job->Finish(job->failure);
  }

  // Ends jobs whose owners have taken all sets that the device had not.
  void FinishTaken() {
    if (waiting_count_.load(std::memory_order_acquire) == 0) return;
    std::vector<Job*> ended;
    {
      base::MutexLock lock(&mutex_);
      std::erase_if(waiting_, [&](Job* job) {
        if (!job->sets.empty()) return false;
        if (job->parts_under_way == 0) ended.push_back(job);
        return true;  // else it ends with its last part
      });
      waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
    }
    for (Job* job : ended) job->Finish(job->failure);
  }

  MirrorDevice* const device_;
  cache::Store* const store_;
  uint64_t (*const now_ns_)();
  // Relaxed: it only says what is better. Written by the thread, and by CatchUp.
  std::atomic<bool>* const is_behind_;
  uint64_t behind_until_ns_ = 0;

  // Held while the store is followed. Before it none, within it those of the store.
  base::Mutex following_;
  Mirror mirror_ WEFT_GUARDED_BY(following_);
  uint64_t content_until_ns_ WEFT_GUARDED_BY(following_) = 0;  // with the objects that are there
  std::unique_ptr<cache::Session> session_ WEFT_GUARDED_BY(following_);
  std::atomic<uint64_t> follow_until_ns_{0};  // without jobs
  std::deque<Group> under_way_;
  GroupSize size_;
  uint64_t last_taken_ = 0;        // ticks at which a group was found to be done
  uint64_t spent_ = 0;             // ticks, on launching groups
  uint64_t spent_when_taken_ = 0;  // when a group was found to be done

  std::atomic<bool> is_given_up_{false};
  std::atomic<uint32_t> waiting_count_{0};  // so that the thread looks without the lock
  base::Mutex mutex_;
  base::CondVar work_;
  std::deque<Job*> waiting_ WEFT_GUARDED_BY(mutex_);
  bool stopping_ WEFT_GUARDED_BY(mutex_) = false;
  bool has_ended_ WEFT_GUARDED_BY(mutex_) = false;  // the thread
  base::CondVar ended_;
  std::thread thread_;
};

class MirroredProcessor final : public Processor {
 public:
  MirroredProcessor(std::unique_ptr<MirrorDevice> device, MirroredTimes times)
      : device_(std::move(device)), times_(times) {}
  ~MirroredProcessor() override { Detach(); }

  const Description& description() const override { return device_->description(); }
  cache::PageSource* pages() override { return device_->pages(); }

  Status Attach(cache::Store* store) override {
    auto runner = std::make_unique<Runner>(device_.get(), store, times_.now_ns, &is_behind_);
    if (Status status = runner->Open(); !status.ok()) return status;
    base::MutexLock lock(&mutex_);
    runner_ = std::move(runner);
    return Status::Ok();
  }
  Status CatchUp() override {
    base::MutexLock lock(&mutex_);
    return runner_ == nullptr ? NoStore() : runner_->CatchUp();
  }
  bool is_behind() const override { return is_behind_.load(std::memory_order_relaxed); }
  void NoteLeft() override {
    base::MutexLock lock(&mutex_);
    if (runner_ != nullptr) runner_->GiveUp();
  }
  bool Detach() override {
    std::unique_ptr<Runner> ended;
    {
      base::MutexLock lock(&mutex_);
      ended = std::move(runner_);
    }
    if (ended == nullptr || ended->Stop(times_.given_up_ms_max)) return !is_kept_;
    // Its thread is in an epoch of the store, and on the device.
    base::KeepForEver(std::shared_ptr<Runner>(std::move(ended)));
    is_kept_ = true;
    return false;
  }

  Status Start(Job* job) override {
    base::MutexLock lock(&mutex_);
    if (runner_ == nullptr) return NoStore();
    runner_->Take(job);
    return Status::Ok();
  }

 private:
  Status NoStore() const {
    return {Code::kInvalidArgument, description().name + ": no store is attached"};
  }

  const std::unique_ptr<MirrorDevice> device_;
  const MirroredTimes times_;
  std::atomic<bool> is_behind_{false};
  std::atomic<bool> is_kept_{false};  // a runner, which hangs
  base::Mutex mutex_;
  std::unique_ptr<Runner> runner_ WEFT_GUARDED_BY(mutex_);  // null: no store is attached
};

}  // namespace

std::unique_ptr<Processor> NewMirroredProcessor(std::unique_ptr<MirrorDevice> device,
                                                MirroredTimes times) {
  return std::make_unique<MirroredProcessor>(std::move(device), times);
}

}  // namespace weft::processor
