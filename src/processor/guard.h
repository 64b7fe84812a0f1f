// processor/guard.h: a device as the pipeline sees it: its jobs counted, its failures met.
//
// A job that failed is the caller's to run elsewhere (QueryJob::again); the guard counts it. A
// device that was lost, or that failed kFailuresInRowMax times with no success between, is retired:
// it is given no more work, and plans that name it are carried out by the CPU. So is one whose job
// did not end in time (Leave): it is not ended with the guard, and its memory is not freed, for the
// job may still be at work.
//
// Threads   any. Counters are read by any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "processor/processor.h"

namespace weft::processor {

class Guard {
 public:
  static constexpr uint32_t kFailuresInRowMax = 3;

  // `on_retired`: told once, with the last failure, on the thread that met it; may be null.
  explicit Guard(std::unique_ptr<Processor> processor,
                 std::function<void(const Description&, const Status&)> on_retired = nullptr);
  ~Guard();

  const Description& description() const { return processor_->description(); }
  cache::PageSource* pages() { return processor_->pages(); }
  Status Attach(cache::Store* store) { return processor_->Attach(store); }
  // kDeviceLost at once where a job of it was left.
  Status CatchUp();
  bool is_behind() const { return processor_->is_behind(); }
  // False: the store must be kept for ever (Processor::Detach).
  [[nodiscard]] bool Detach() { return processor_->Detach(); }

  // False: no more work for it.
  bool usable() const { return !retired_.load(std::memory_order_acquire); }
  // As Processor::Start; kDeviceLost at once where it is retired.
  Status Start(Job* job);
  // A job that was started is done: to be told once each.
  void Note(const Job& job) WEFT_EXCLUDES(mutex_);

  // A job that was started did not end in time, and was left by its owner: the device is retired.
  void Leave(const Status& why) WEFT_EXCLUDES(mutex_);
  bool has_left_jobs() const { return has_left_jobs_.load(std::memory_order_acquire); }

  struct Counters {
    std::atomic<uint64_t> jobs{0};      // started
    std::atomic<uint64_t> failures{0};  // that failed, or were refused
    std::atomic<uint64_t> queries{0};   // of the jobs that ended well
  };
  const Counters& counters() const { return counters_; }
  // The last failure's message; empty: none.
  std::string last_failure() const WEFT_EXCLUDES(mutex_);

 private:
  void NoteFailure(const Status& status) WEFT_EXCLUDES(mutex_);

  std::unique_ptr<Processor> processor_;
  const std::function<void(const Description&, const Status&)> on_retired_;

  std::atomic<bool> retired_{false};
  std::atomic<bool> has_left_jobs_{false};
  Counters counters_;

  mutable base::Mutex mutex_;
  uint32_t failures_in_row_ WEFT_GUARDED_BY(mutex_) = 0;
  std::string last_failure_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::processor
