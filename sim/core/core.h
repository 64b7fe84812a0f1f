// sim/core/core.h: a core that plays its records, cycle by cycle: a window of instructions that
// retire in order and start their accesses out of it.
//
// In a cycle it retires up to four instructions from the window's head and takes up to four new
// ones in. It also starts at most one access: the oldest in the window whose `dep` has its data, if
// there is one, otherwise the oldest retired store. Then:
//   - A plain instruction is done in the next cycle; `plain_slots` of the four are taken by it.
//   - A read is done when its data is here; one that hits its L1, in the next cycle.
//   - A software prefetch is done once it is under way; if no miss is free, it waits like a read.
//   - A store is done at once, and goes through the store buffer when it retires; it leaves that
//     when the line is owned. While the buffer is full, stores don't retire.
//   - An access wider than a line is an instruction a line; each starts in a separate cycle.
//   - Marks take no time. kOpBegin counts from when it comes in, all others from when everything
//     before them has retired.
//
// It skips cycles in which only plain instructions move, or nothing; the outcome is the same.
//
// Units     core cycles inside, Time (picoseconds) outside.
// Threads   one owner.
// Errors    its source's. kInvalidArgument, with the core's number and the record's, the first
//           being 1: an access of no bytes or beyond the memory; a `dep` from before the first
//           record; a mark for a bucket or slot that isn't there; an end of an operation that
//           hasn't begun.
// Source    paper 004, table 2; the simulator's specification, sections 1.1, 3.3 and 3.8.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/cache/l1_cache.h"
#include "sim/cache/l2_cache.h"
#include "sim/trace/record.h"
#include "sim/trace/trace_source.h"

namespace weft::sim {

struct CoreOptions {
  Time cycle = 250;
  int window = 128;
  int width = 4;        // instructions that may come in, and retire, in a cycle
  int plain_slots = 1;  // of the width: CPI of plain instructions is plain_slots / width
  int store_buffer = 16;
  bool skips = true;
  // Operations to play; the first of them are warm-up and count in no figure. 0: all.
  int64_t ops_max = 0;
  int64_t warmup_ops = 0;
  bool keeps_kv_latencies = false;  // CoreFigures::kv_latencies
};

Status Validate(const CoreOptions& options);

// That the access touches. REQUIRES: it is one, of at least a byte
inline int LinesOf(const Record& record) {
  constexpr uint64_t kBytes = CacheShape::kLineBytes;
  return static_cast<int>((record.addr + record.size - 1) / kBytes - record.addr / kBytes + 1);
}

// A sum over how many.
struct Mean {
  int64_t count = 0;
  int64_t sum = 0;

  void Add(int64_t value) {
    ++count;
    sum += value;
  }
  void Add(const Mean& other) {
    count += other.count;
    sum += other.sum;
  }
  double value() const {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  }
  bool operator==(const Mean&) const = default;
};

// After the warm-up, in core cycles. An access is a line's; it takes from its start to its data.
struct CoreFigures {
  Mean reads;                       // M1: all, also those that hit L1
  Mean misses;                      // M2: reads and software prefetches that asked L2 for a line
  Mean kv_misses;                   // M3: of those, for index and objects
  std::vector<uint32_t> op_cycles;  // M4: from kOpBegin to kOpEnd
  int64_t instructions = 0;         // retired
  int64_t cycles = 0;
  int64_t stalled_cycles = 0;  // the window wasn't empty, but nothing retired
  // Of each read and prefetch for index and objects, in the trace's order.
  std::vector<uint32_t> kv_latencies;
  static constexpr uint32_t kFromMemory = uint32_t{1} << 31;  // added: asked for and read there

  bool operator==(const CoreFigures&) const = default;
};

// What a core tells the machine around it.
class CorePort {
 public:
  virtual ~CorePort() = default;
  // Its L1 asks L2 for the line; the request leaves at `when`.
  virtual void AskL2(const L2Request& request, Time when) = 0;
  virtual void OnMark(int core, const Record& record, Time now) = 0;
  virtual void OnOpEnd(int core, Time now) = 0;
};

// What addresses and marks may name.
struct CoreLimits {
  uint64_t lines = 0;  // of the memory
  uint64_t buckets = 0;
  int slots_per_bucket = 0;
};

// The error if a core has no operation left to be passed over.
Status EndsInFastForward(int core);

class Core {
 public:
  // All that is given by reference or pointer must outlive it. REQUIRES: Validate(options).ok()
  Core(int number, const CoreOptions& options, const CoreLimits& limits, TraceSource& source,
       L1Cache& l1, CorePort* port);

  // Gives the next operation's records to `see`, and they are over; no time passes. Later records
  // can wait for its accesses, which have their data. Errors: as of Step(). kInvalidArgument: no
  // operation is left.
  // REQUIRES: no cycle has been performed
  template <typename See>
  Status PassOverOp(const See& see) {
    while (NextRecord()) {
      PassOver();
      see(record_);
      if (record_.kind == RecordKind::kOpEnd) return Status::Ok();
    }
    return status_.ok() ? EndsInFastForward(number_) : status_;
  }

  // When it has something to do next; kNever: not before Filled().
  Time next() const { return skip_ == kForever ? kNever : (cycle_ + skip_) * options_.cycle; }
  // Performs the cycle that begins at next().
  void Step();
  // L1 was filled: what waited for the line goes on. REQUIRES: now is not before the last step
  void Filled(const L1Cache::Filled& filled, bool from_memory, Time now);

  // No record is left, and no access is under way.
  bool is_done() const { return is_done_; }
  const Status& status() const { return status_; }
  // Of all cycles performed.
  const CoreFigures& figures() const { return figures_; }
  int64_t records() const { return records_; }

 private:
  static constexpr int64_t kForever = INT64_MAX;
  static constexpr size_t kEntries = 256;  // accesses and marks in the window; a power of two
  static constexpr size_t kProducers = 256;

  // An access or a mark in the window, with the plain instructions between the one before and it.
  struct Entry {
    int plains = 0;
    bool is_mark = false;
    Access access = Access::kLoad;
    int64_t done = kForever;  // the cycle in which it may retire
    uint64_t line = 0;
    uint64_t dep_first = 0;  // entries that it waits for; first > last: none
    uint64_t dep_last = 0;
    Waiter waiter;
    Record mark;
  };
  struct Producer {
    uint64_t first = 1;
    uint64_t last = 0;  // before first: nothing to wait for
  };
  struct Store {
    uint64_t line = 0;
    Waiter waiter;
  };

  Entry& At(uint64_t entry) { return entries_[entry % kEntries]; }
  const Entry& At(uint64_t entry) const { return entries_[entry % kEntries]; }
  bool has_entry_room() const { return tail_ - head_ < kEntries; }
  bool has_store_room() const {
    return static_cast<int>(stores_.size()) + stores_under_way_ < options_.store_buffer;
  }

  void Retire();
  bool IsRetirable(const Entry& entry) const;
  void PerformMark(const Record& mark);
  void TakeIn();
  bool NextRecord();
  Status Check(const Record& record) const;
  void PassOver();
  void TakeInMark();
  void TakeInAccess();
  void StartOne();
  bool HasItsData(const Entry& entry) const;
  bool StartEntry(Entry& entry);
  bool StartStore();
  void Ask(uint64_t line, const Waiter& waiter);
  void Count(const Waiter& waiter, bool is_miss, bool from_memory);
  void SkipTo(int64_t cycle);
  int64_t CyclesToSkip();

  // Constant after construction.
  const int number_;
  const CoreOptions options_;
  const CoreLimits limits_;
  TraceSource& source_;
  L1Cache& l1_;
  CorePort* const port_;

  int64_t cycle_ = 0;  // the next to perform, after skip_ in which nothing happens
  int64_t skip_ = 0;
  // What happens in each of these.
  int retires_a_cycle_ = 0;
  int takes_a_cycle_ = 0;

  // The window: entries head_ to tail_ - 1, and the plain instructions after them.
  std::array<Entry, kEntries> entries_;
  uint64_t head_ = 1;
  uint64_t tail_ = 1;
  int tail_plains_ = 0;
  int instructions_ = 0;               // in the window
  std::vector<uint64_t> not_started_;  // entries, the oldest first
  bool has_started_ = false;           // something, in this cycle
  std::deque<Store> stores_;           // retired and not started, the oldest first
  int stores_under_way_ = 0;

  // The record to come in next, after gap_left_ plain instructions.
  Record record_;
  bool has_record_ = false;
  bool has_ended_ = false;
  uint32_t gap_left_ = 0;
  int lines_taken_in_ = 0;  // of the record's access
  int64_t records_ = 0;
  int64_t accesses_ = 0;
  std::array<Producer, kProducers> producers_;  // by number of the access
  int64_t ops_begun_ = 0;                       // come in
  int64_t ops_ended_ = 0;
  int64_t ops_retired_ = 0;
  std::deque<int64_t> op_begins_;  // cycles

  bool is_done_ = false;
  Status status_;
  CoreFigures figures_;
};

}  // namespace weft::sim
