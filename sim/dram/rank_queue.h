// sim/dram/rank_queue.h: the requests that wait for one rank, and which command serves them next.
//
// First ready, first come: of the requests, oldest first, the first whose next command is legal now
// is served: RD or WR where its row is open, ACT where its bank is closed, PRE where another row is
// open. So hits of open rows overtake older misses. What may not overtake:
//   - PRE is for a bank's oldest request only, and while requests for the open row wait, only once
//     the row has served `row_hits_max` of them. (It may go then; it is not waited for.)
//   - RD and WR pass no older request for the same line.
//
// Units     clocks.
// Threads   one owner.
// Cost      Choose() looks at each request once at most.
// Source    the simulator's specification, section 3.2, step 3. There the oldest request that hits
//           the open row keeps it open; here the younger do too, as in DRAMsim3 and DRAMSim2, whose
//           counts we are compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/dram/bank_states.h"
#include "sim/dram/command.h"
#include "sim/time.h"

namespace weft::sim {

// A request for one line, as a command queue has it.
struct QueuedRequest {
  uint64_t id;
  Clock accepted;
  uint32_t row;
  uint32_t column;
  uint8_t bank;
  bool is_write;
  uint8_t bursts_left;    // column commands
  bool is_begun = false;  // one was issued
};

// REQUIRES: both are for the same rank.
inline bool AreForTheSameLine(const QueuedRequest& a, const QueuedRequest& b) {
  return a.bank == b.bank && a.row == b.row && a.column == b.column;
}

class RankQueue {
 public:
  // `states` outlives it.
  RankQueue(int rank, int entries_max, int row_hits_max, const BankStates& states, int banks);

  bool has_room() const { return requests_.size() < entries_max_; }
  bool is_empty() const { return requests_.empty(); }
  // Does a read, or a write, wait for the line of `request`?
  bool Has(const QueuedRequest& request, bool is_write) const;
  // REQUIRES: has_room()
  void Add(const QueuedRequest& request);

  struct Choice {
    bool found;
    Clock clock;           // not found: before that none will be, unless requests come
    size_t index;          // found: of the request
    IssuedCommand issued;  // found
  };
  Choice Choose(Clock now) const;

  // What the queue must know of every command of the rank, PRE for a refresh too.
  void OpenedRow(int bank, uint32_t row);
  void ClosedRow(int bank);
  struct Served {
    QueuedRequest request;
    bool is_first_burst;
    bool is_last_burst;  // the request has left the queue
    bool is_row_hit;     // the row had served a request before; of the first burst
  };
  // The request at `index` got a column command.
  Served Serve(size_t index);

 private:
  struct Bank {
    int waiting = 0;
    int hits_waiting = 0;  // requests for the open row
    int served = 0;        // requests since the row was opened
  };

  bool PassesSameLine(size_t index) const;
  void SetHitsWaiting(Bank& bank, int hits);

  // Constant after construction.
  const int rank_;
  const size_t entries_max_;
  const int row_hits_max_;
  const BankStates& states_;

  std::vector<QueuedRequest> requests_;  // the oldest first
  std::vector<Bank> banks_;
  uint64_t banks_waiting_ = 0;  // a bit each: those with requests
  int hits_waiting_ = 0;        // of all banks
};

}  // namespace weft::sim
