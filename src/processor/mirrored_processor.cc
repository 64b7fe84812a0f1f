#include "processor/mirrored_processor.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "processor/mirror.h"

namespace weft::processor {
namespace {

using Group = std::vector<Job*>;

// The jobs that wait, and the thread that runs them; from Attach to Detach.
class Runner {
 public:
  Runner(MirrorDevice* device, cache::Store* store)
      : device_(device), store_(store), mirror_(store, device) {}
  // Ends when all jobs it has taken have ended.
  ~Runner() {
    if (!thread_.joinable()) return;
    {
      base::MutexLock lock(&mutex_);
      stopping_ = true;
      work_.NotifyAll();
    }
    thread_.join();
  }

  Status Open() {
    if (Status status = mirror_.Open(); !status.ok()) return status;
    thread_ = std::thread([this] {
      base::SetThreadName("weft-mirror");
      Run();
    });
    return Status::Ok();
  }

  // REQUIRES: no job is under way
  Status CatchUp() {
    const std::unique_ptr<cache::Session> session = store_->NewSession();
    if (session == nullptr) return {Code::kNoMemory, "too many sessions to follow the store"};
    // What was being written when an Advance came is copied by the second one after it. While the
    // index grows there is nothing to copy, and that may be so until somebody changes the store.
    constexpr uint32_t kIdleMin = 3;
    constexpr uint32_t kNotReadyMax = 1000;
    uint32_t idle = 0;
    for (uint32_t not_ready = 0; idle < kIdleMin && not_ready < kNotReadyMax;) {
      const uint64_t before = mirror_.counters().log_bytes + mirror_.counters().index_pieces;
      session->Begin();
      Result<bool> ready = mirror_.Advance(session->index(), session->log());
      session->End();
      if (!ready) return ready.error();
      const uint64_t copied = mirror_.counters().log_bytes + mirror_.counters().index_pieces;
      idle = *ready && copied == before ? idle + 1 : 0;
      not_ready += !*ready && copied == before;
    }
    return Status::Ok();
  }

  void Take(Job* job) {
    job->Begin();
    base::MutexLock lock(&mutex_);
    waiting_.push_back(job);
    waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
    work_.NotifyOne();
  }

 private:
  void Run() {
    for (;;) {
      const bool has_place = under_way_.size() < device_->groups_max();
      Group group = has_place ? NextGroup(under_way_.empty()) : Group();
      if (!group.empty()) {
        Begin(std::move(group));
      } else if (under_way_.empty()) {
        return;  // nothing waits, and nothing will
      } else if (!has_place || device_->OldestIsDone()) {
        FinishOldest();
      } else {
        std::this_thread::yield();
      }
    }
  }

  // Jobs that wait and go together. `waits`: until there are some; none then: the end.
  Group NextGroup(bool waits) {
    Group group;
    if (!waits && waiting_count_.load(std::memory_order_acquire) == 0) return group;
    base::MutexLock lock(&mutex_);
    while (waits && waiting_.empty() && !stopping_) work_.Wait(&mutex_);
    while (!waiting_.empty() && group.size() < MirrorDevice::kGroupJobsMax &&
           (group.empty() || GoTogether(*group[0], *waiting_.front()))) {
      group.push_back(waiting_.front());
      waiting_.pop_front();
    }
    waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
    return group;
  }

  static bool GoTogether(const Job& a, const Job& b) {
    return a.query.tasks == b.query.tasks &&
           a.query.index.older.buckets == b.query.index.older.buckets &&
           a.query.index.newer.buckets == b.query.index.newer.buckets &&
           a.query.log.flush_floor == b.query.log.flush_floor;
  }

  void Begin(Group group) {
    Result<bool> ready = mirror_.Advance(group[0]->query.index, group[0]->query.log);
    // Without memory for a table that has grown there is no mirror, which is no failure.
    if (!ready && ready.error().code() == Code::kNoMemory) return Finish(group, Status::Ok());
    if (!ready) return Finish(group, ready.error());
    if (!*ready) return Finish(group, Status::Ok());
    std::vector<task::QueryJob> jobs;
    for (const Job* job : group) mirror_.Replace(&jobs.emplace_back(job->query));
    if (Status status = device_->Launch(jobs); !status.ok()) return Finish(group, status);
    under_way_.push_back(std::move(group));
  }

  void FinishOldest() {
    const Status status = device_->TakeOldest();
    Finish(under_way_.front(), status);
    under_way_.pop_front();
  }

  static void Finish(const Group& group, const Status& status) {
    for (Job* job : group) job->Finish(status);
  }

  MirrorDevice* const device_;
  cache::Store* const store_;

  // Owned by the thread while it has jobs.
  Mirror mirror_;
  std::deque<Group> under_way_;

  std::atomic<uint32_t> waiting_count_{0};  // so that the thread looks without the lock
  base::Mutex mutex_;
  base::CondVar work_;
  std::deque<Job*> waiting_ WEFT_GUARDED_BY(mutex_);
  bool stopping_ WEFT_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

class MirroredProcessor final : public Processor {
 public:
  explicit MirroredProcessor(std::unique_ptr<MirrorDevice> device) : device_(std::move(device)) {}
  ~MirroredProcessor() override { Detach(); }

  const Description& description() const override { return device_->description(); }
  cache::PageSource* pages() override { return device_->pages(); }

  Status Attach(cache::Store* store) override {
    auto runner = std::make_unique<Runner>(device_.get(), store);
    if (Status status = runner->Open(); !status.ok()) return status;
    base::MutexLock lock(&mutex_);
    runner_ = std::move(runner);
    return Status::Ok();
  }
  Status CatchUp() override {
    base::MutexLock lock(&mutex_);
    return runner_ == nullptr ? NoStore() : runner_->CatchUp();
  }
  void Detach() override {
    std::unique_ptr<Runner> ended;
    {
      base::MutexLock lock(&mutex_);
      ended = std::move(runner_);
    }
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
  base::Mutex mutex_;
  std::unique_ptr<Runner> runner_ WEFT_GUARDED_BY(mutex_);  // null: no store is attached
};

}  // namespace

std::unique_ptr<Processor> NewMirroredProcessor(std::unique_ptr<MirrorDevice> device) {
  return std::make_unique<MirroredProcessor>(std::move(device));
}

}  // namespace weft::processor
