// sim/dram/rank_queue.h: the requests that wait for one rank, and which command serves them next.
//
// First ready, first come: the oldest request whose next command is legal now is served: RD or WR
// if its row is open, ACT if its bank is closed, PRE if another row is open. So hits of open rows
// overtake older misses, with two exceptions:
//   - PRE is for a bank's oldest request only, and while requests for the open row wait, only once
//     the row has served `row_hits_max` of them. (It may go then; nothing waits for it.)
//   - RD and WR pass no older request for the same line.
// In order: likewise, except that the caller says when the queue's oldest request may have RD or
// WR, and no other may; PRE then waits for no younger request.
//
// Requests are numbered from the oldest, and sets of them are words with a bit each.
//
// Units     clocks.
// Threads   one owner.
// Cost      Choose() asks for two commands of each bank with requests at most.
// Source    the simulator's specification, section 3.2, step 3. There the oldest request that hits
//           the open row keeps it open. Here the younger do too, as in DRAMsim3 and DRAMSim2, whose
//           counts are compared with ours.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/dram/bank_states.h"
#include "sim/dram/command.h"

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

// Whose RD or WR may go.
enum class Columns : uint8_t { kAll, kOldest, kNone };

class RankQueue {
 public:
  static constexpr int kEntriesMax = 64;
  struct Options {
    int entries_max;  // kEntriesMax at most
    int row_hits_max;
    bool is_in_order;
  };

  // `states` must outlive it.
  RankQueue(int rank, const Options& options, const BankStates& states, int banks);

  bool has_room() const { return requests_.size() < entries_max_; }
  bool is_empty() const { return requests_.empty(); }
  int64_t reads() const { return static_cast<int64_t>(requests_.size()) - writes(); }
  int64_t writes() const { return std::popcount(writes_); }
  // Does a read, or a write, wait for the line of `request`?
  bool Has(const QueuedRequest& request, bool is_write) const;
  // Does a request wait for the bank's open row?
  bool HasHits(int bank) const { return banks_[static_cast<size_t>(bank)].hits != 0; }
  // ... and could be served without another row's being opened?
  bool HasServableHits(int bank) const {
    return (banks_[static_cast<size_t>(bank)].hits & (is_in_order_ ? 1 : ~uint64_t{0})) != 0;
  }
  // REQUIRES: has_room()
  void Add(const QueuedRequest& request);

  // What commands may be chosen.
  struct Permit {
    bool rows = true;  // ACT and PRE
    Columns columns = Columns::kAll;
    uint64_t banks = ~uint64_t{0};  // a bit each
  };
  struct Choice {
    bool found;
    Clock clock;           // not found: none will be before this, unless requests come
    size_t index;          // found: of the request
    IssuedCommand issued;  // found
  };
  Choice Choose(Clock now, const Permit& permit) const;

  // The queue must know of every command of the rank, also of PRE for a refresh.
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
    uint64_t waiting = 0;  // requests
    uint64_t hits = 0;     // of those, for the open row
    int served = 0;        // requests since the row was opened
  };
  // `hits` without those that would pass an older request for their line.
  uint64_t WithoutPassing(uint64_t hits) const;
  void Remove(size_t index);

  // Constant after construction.
  const int rank_;
  const size_t entries_max_;
  const int row_hits_max_;
  const bool is_in_order_;
  const BankStates& states_;

  std::vector<QueuedRequest> requests_;  // the oldest first
  std::vector<Bank> banks_;
  uint64_t writes_ = 0;         // requests
  uint64_t banks_waiting_ = 0;  // a bit each: those with requests
};

}  // namespace weft::sim
