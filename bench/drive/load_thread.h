// bench/drive/load_thread.h: one thread of a load: its sessions, and the loop that keeps them busy
// or on schedule (bench/drive/load_options.h).
//
// An operation's tag is the place where it is kept while under way. So its kind and its start are
// known when its outcome comes.
//
// Threads   one owner; `stop` is shared: whoever meets an error sets it, and all end.
// Errors    Run returns the first: what a session says; kCorruption for a wrong answer or a lost
//           record; kIoError if nothing is answered for `patience_s`; kRetryLater if an open loop
//           has so much to do that it takes ten times its window and more.
// Cost      two clock readings and two calls of a session a batch, and what a stream and a recorder
//           cost an operation. An open loop spins for the last 50 us before something is due.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/posix_fd.h"
#include "bench/drive/load_options.h"
#include "bench/drive/recorder.h"
#include "bench/target/target.h"
#include "bench/workload/arrivals.h"
#include "bench/workload/operation_stream.h"
#include "weft/status.h"

namespace weft::bench {

// When a run counts.
struct LoadWindow {
  uint64_t start_ns = 0;  // of the schedule
  uint64_t begin_ns = 0;  // of counting
  uint64_t end_ns = UINT64_MAX;
};

class LoadThread {
 public:
  LoadThread(const LoadOptions& options, OperationStream* stream, std::atomic<bool>* stop)
      : options_(options), stream_(*stream), stop_(*stop) {}

  // Opens so many sessions, one at least, for so many operations at most. Call it once, before Run.
  Status Open(Target* target, int sessions, uint64_t operations = UINT64_MAX);
  // `arrivals`: of an open loop; null: a closed one.
  Status Run(const LoadWindow& window, Recorder* recorder, Arrivals* arrivals);

  // CPU time of this thread while it counted.
  double cpu_s() const { return cpu_s_; }
  double counted_s() const { return counted_s_; }

 private:
  struct Line {
    std::unique_ptr<Session> session;
    std::vector<uint64_t> free;    // tags
    std::vector<Operation> round;  // of an open loop: what is due
    std::vector<Outcome> held;     // of a burst that is not all answered
    bool watches_writing = false;
  };
  struct UnderWay {
    uint64_t record = 0;
    uint64_t from_ns = 0;
    OperationKind kind = OperationKind::kRead;
  };

  // A time when the thread should have run but did not: the machine was busy, or it was stopped.
  struct Pause {
    uint64_t begin_ns, end_ns;
  };

  Status RunClosed();
  Status RunOpen(Arrivals* arrivals);
  uint64_t GiveUpNs() const;
  Status FillClosed(Line* line);
  bool Begin(Line* line, uint64_t from_ns, std::vector<Operation>* round);
  bool BeginDue(uint64_t due_ns, uint64_t now_ns);
  Status SubmitRound(Line* line, std::vector<Operation>* round);
  Status TakeFrom(Line* line);
  void HoldBurst(Line* line);
  bool Settle(const Outcome& outcome, uint64_t now_ns);
  Status WhyWrong(const Outcome& outcome, const Line& line) const;
  Status Wait(uint64_t until_ns);
  Status CheckPatience(uint64_t now_ns);
  void WatchWriting(Line* line);
  void Count(uint64_t now_ns);
  void NotePause(uint64_t from_ns, uint64_t to_ns);
  uint64_t LagOf(uint64_t due_ns, uint64_t now_ns);
  bool is_over(uint64_t now_ns) const {
    return exhausted_ || now_ns >= window_.end_ns || stop_.load(std::memory_order_relaxed);
  }

  const LoadOptions& options_;
  OperationStream& stream_;
  std::atomic<bool>& stop_;  // Relaxed: it orders nothing, and is looked at often
  LoadWindow window_;
  Recorder* recorder_ = nullptr;
  bool is_open_loop_ = false;
  base::Fd epoll_;
  size_t batch_ = 1;
  std::vector<Line> lines_;
  std::vector<UnderWay> under_way_;  // by tag
  size_t count_ = 0;                 // of those that are
  std::vector<Operation> round_;     // of a closed loop, for whichever line is filled
  size_t next_line_ = 0;
  uint64_t left_ = UINT64_MAX;  // operations to begin
  bool exhausted_ = false;
  bool is_full_ = false;        // something was due, and no session was free
  uint64_t free_since_ns_ = 0;  // when one was free again
  std::deque<Pause> pauses_;    // in which something may have been due that is not begun
  uint64_t answered_ns_ = 0;
  std::vector<Outcome> outcomes_;
  // Of what it used.
  bool counting_ = false;
  double cpu_s_ = 0, cpu_begin_s_ = 0;
  double counted_s_ = 0;
  uint64_t count_begin_ns_ = 0;
};

}  // namespace weft::bench
