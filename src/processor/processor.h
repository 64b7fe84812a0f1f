// processor/processor.h: where the tasks of a stage run: one interface for all kinds of processor.
//
// A processor takes a job (task/query_job.h), runs it beside its caller and says when it is done.
// It knows no algorithm: src/task defines what a job does. If a processor replaces a task by a
// tuned version, a test compares the two.
//
// Memory    kCoupled: it reads and writes the store itself. Everything that a job points at must
//           lie in memory of pages(). Each side sees the other's changes through the tasks' atomics
//           (paper 000, section II-B: an APU, or OpenCL's fine-grained shared virtual memory).
//           kMirrored: it has its own memory and runs jobs on a copy of the store.
// Errors    are Status, made in one place for each kind of processor. A failed job may leave its
//           columns in any state, which a second run with QueryJob::again, or the last stage of the
//           plan, puts right. See processor/guard.h for what happens on failures.
// Threads   Start: any. Job: its owner, except for the part that is the processor's; SetShare
//           belongs to both.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "cache/pages.h"
#include "processor/set_share.h"
#include "task/query_job.h"
#include "weft/status.h"

namespace weft::cache {
class Store;
}

namespace weft::processor {

enum class MemoryModel : uint8_t { kCoupled, kMirrored };

struct Description {
  std::string name;      // as a plan and --device name it: "cpu", "opencl:0", "cuda:0"
  std::string hardware;  // what it is, as its driver names it
  MemoryModel memory = MemoryModel::kCoupled;
  uint64_t memory_bytes = 0;          // that it can use; 0: unknown
  uint64_t allocation_bytes_max = 0;  // of one Reserve; 0: it sets no limit
  uint32_t units = 0;                 // cores, compute units or multiprocessors
  uint32_t tasks = 0;                 // kRun... bits that it can run
  // Its jobs' owners may take sets of them: by QueryJob::set_claims on coupled memory, by
  // Job::sets on mirrored.
  bool steals = false;
};

// One run of a stage's tasks over a batch. Reused by its owner.
class Job {
 public:
  Job() = default;
  // Waits until the processor has let go of it.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  task::QueryJob query{};
  // For a mirrored processor's job, which Start opens: sets that the device has not taken yet. If
  // query.set_claims is not null the owner may take some, and must run them on the store itself
  // before it looks at done().
  SetShare sets;

  // Called when the job is done, by the thread that finished it. That thread holds the job's lock,
  // so this must neither block nor call back. Set once, before the first Start.
  std::function<void()> on_done;

  // --- the owner's ---
  // True once the job is done; then status() holds and the columns are the owner's again.
  bool done() const { return done_.load(std::memory_order_acquire); }
  // REQUIRES: done()
  const Status& status() const WEFT_NO_THREAD_SAFETY_ANALYSIS { return status_; }
  // base::ReadTicks when it was done. REQUIRES: done()
  uint64_t ended_ticks() const { return ended_ticks_; }
  // Waits for it. REQUIRES: it was begun
  const Status& Wait() WEFT_EXCLUDES(mutex_);
  // The same, for at most this long. False: it is not done.
  bool WaitFor(int ms) WEFT_EXCLUDES(mutex_);
  // The owner goes on without it: on_done is not called any more. The job, and all that it points
  // at, must stay until it is done, perhaps for ever. False: it is done after all.
  bool Leave() WEFT_EXCLUDES(mutex_);

  // --- the processor's ---
  // It is on its way. REQUIRES: no run of it is under way
  void Begin() WEFT_EXCLUDES(mutex_);
  void Finish(Status status) WEFT_EXCLUDES(mutex_);
  // For its own use: parts of the job that are under way, and the error of one that failed.
  uint32_t parts_under_way = 0;
  Status failure;

 private:
  base::Mutex mutex_;
  base::CondVar ended_;
  std::atomic<bool> done_{true};
  uint64_t ended_ticks_ = 0;               // as status_
  Status status_ WEFT_GUARDED_BY(mutex_);  // nobody writes it while done_
};

class Processor {
 public:
  virtual ~Processor() = default;
  virtual const Description& description() const = 0;
  // Takes the job, which must stay as it is until it is done. An error: it was not taken.
  virtual Status Start(Job* job) = 0;
  // The store whose jobs it will run: a mirrored processor begins to follow it. Before any Start.
  virtual Status Attach(cache::Store*) { return Status::Ok(); }
  // Follows the store until the copy is as new as the store was. A mirrored processor does that
  // between jobs, too; a store that was full when attached takes many of them. Takes as long as
  // copying the store. REQUIRES: no job is under way, nobody changes the store
  virtual Status CatchUp() { return Status::Ok(); }
  // Its copy is so far behind the store that jobs are better done without it. It goes on following
  // meanwhile, until it has caught up. Any thread; a moment old.
  virtual bool is_behind() const { return false; }
  // Lets go of the store; ends what was started, and takes no more. False: a job was left. What it
  // holds up goes on using the store, which must be kept for ever, as must the processor.
  virtual bool Detach() { return true; }
  // A job was left (Job::Leave), and may go on touching all that it was given: from now on memory
  // of pages() is never freed. The processor takes no more work, and is never ended, because that
  // would wait for the job.
  virtual void NoteLeft() {}
  // Memory that both sides see. It must go before the processor does.
  virtual cache::PageSource* pages() = 0;
};

}  // namespace weft::processor
