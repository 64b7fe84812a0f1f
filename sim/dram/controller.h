// sim/dram/controller.h: a channel's memory controller and its memory, clock by clock.
//
// In a clock it hands back what is done and issues at most one command, for a due refresh before a
// request. It also moves at most one request from the transaction queue to its rank's command
// queue. So a request accepted in clock t gets its first command in t + 1 at the earliest. If the
// memory has a bus for column commands (HBM), one command for it goes beside one for rows.
//
//     Accept --> transaction queue --> RankQueue --> BankStates, data bus --> Completion
//
// Reads and writes share the queues by age, or writes have a buffer. Then a write is done once it
// is there; a read of a line that waits there is served from it, and a write to one adds nothing.
// The buffer's writes are moved when it is full, or when it has more than a few and no request
// waits in a command queue. Then all of them are moved, and reads wait. None is moved before an
// older read of its line. Once no more requests come (EndRequests()), a few are enough.
//
// Order: first ready, first come, as rank_queue.h says; or first come. Then column commands go in
// the order in which requests came to the command queues, over all ranks; without a write buffer
// that is the order of acceptance. Rows are still opened and closed for the oldest request of each
// bank.
//
// Page: a row stays open until another of its bank is wanted or the rank refreshes. Or it is closed
// as soon as no request in the rank's queue is for it, in a clock in which no other command goes. A
// separate PRE closes it, not the column command (auto-precharge).
//
// Refresh: for one of a rank, its requests wait while its open rows are closed as timing allows;
// other ranks go on. For one of a bank (REFpb), only requests for that bank wait. With drain,
// column commands to rows that are open go first, for a tREFI at most.
//
// Power-down: a rank enters precharge power-down when its command queue is empty, no refresh of it
// is due and its banks are closed; both ends of it come at the end of a clock. It leaves when a
// request comes to its queue or its refresh is due. With open pages only a refresh closes the last
// row.
//
// Not modelled: active power-down, self-refresh, and HBM's ACT of two clocks.
//
// Units     clocks. Clock t is "now" from the end of clock t - 1 until Tick().
// Threads   one owner.
// Cost      with skipping, a few hundred nanoseconds a request; without, some tens a clock.
// Source    the simulator's specification, section 3.2; the times are section 2.1's.
#pragma once

#include <climits>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/dram/address_map.h"
#include "sim/dram/bank_states.h"
#include "sim/dram/command.h"
#include "sim/dram/preset.h"
#include "sim/dram/rank_queue.h"
#include "sim/dram/refresh_schedule.h"

namespace weft::sim {

enum class WritePolicy : uint8_t { kUnified, kBuffer };
enum class OrderPolicy : uint8_t { kFirstReady, kFirstCome };
enum class PagePolicy : uint8_t { kOpen, kClosed };

struct ControllerOptions {
  int transactions_max = 32;  // of the channel; with a write buffer, reads
  WritePolicy writes = WritePolicy::kUnified;
  int write_buffer_max = 32;
  int idle_writes_max = 8;  // more are moved when no command queue has anything
  int commands_max = 32;    // requests of a rank's queue; RankQueue::kEntriesMax at most
  static constexpr int kUnlimited = INT_MAX;
  int row_hits_max = 4;  // after which others may close the row
  OrderPolicy order = OrderPolicy::kFirstReady;
  PagePolicy page = PagePolicy::kOpen;
  bool refreshes = true;
  bool refreshes_banks = false;  // one by one; needs the memory's tRFCpb
  bool refresh_drain = false;    // hits of open rows go before a due refresh
  bool powers_down = false;      // needs the memory's tXP
  bool skips = true;             // over clocks in which nothing happens; the outcome is the same
  // Called in order of clocks; may be empty.
  std::function<void(const IssuedCommand&)> on_command = {};
};

// Can a memory of this preset be controlled so? kInvalidArgument, and why not.
Status Validate(const Preset& preset, const ControllerOptions& options);

struct Completion {
  uint64_t id;
  Clock accepted;
  Clock done;  // the clock after the last beat of its data
  bool is_write;
};

struct ControllerCounts {
  int64_t reads_done = 0;
  int64_t writes_done = 0;
  int64_t read_latency_clocks = 0;  // sum over reads, from acceptance to done
  int64_t activates = 0;            // ACT
  int64_t precharges = 0;           // PRE
  int64_t read_bursts = 0;          // RD
  int64_t write_bursts = 0;         // WR
  int64_t refreshes = 0;            // REF, of a rank
  int64_t bank_refreshes = 0;       // REFpb
  int64_t read_row_hits = 0;        // reads that found their row open since another request
  int64_t write_row_hits = 0;
  int64_t writes_merged = 0;             // that found their line in the write buffer
  int64_t buffer_reads = 0;              // reads: the write buffer served them
  int64_t active_rank_clocks = 0;        // with an open bank, or refreshing
  int64_t powered_down_rank_clocks = 0;  // from PDE to PDX
  int64_t idle_rank_clocks = 0;          // all others

  bool operator==(const ControllerCounts&) const = default;
};

class Controller {
 public:
  // REQUIRES: Validate(preset.organization).ok() && Validate(preset, options).ok()
  Controller(const Preset& preset, ControllerOptions options);
  Controller(const Controller&) = delete;  // its queues know its bank states
  Controller& operator=(const Controller&) = delete;

  Clock now() const { return now_; }
  bool CanAccept(bool is_write) const {
    return is_write && has_write_buffer_ ? write_buffer_.size() < write_buffer_max_
                                         : transactions_.size() < transactions_max_;
  }
  // Accepts a request in clock now(). `id` is the caller's. `place.channel` is not looked at.
  // REQUIRES: CanAccept(is_write)
  void Accept(uint64_t id, const Place& place, bool is_write);
  // No more requests come, so the write buffer is emptied completely once no others wait.
  void EndRequests();

  // Performs clock now().
  void Tick();
  // Performs all clocks before `clock`. REQUIRES: now() <= clock
  void AdvanceTo(Clock clock);
  // The first clock from now() on in which something may happen, if nothing more is accepted;
  // now() without skipping.
  Clock NextEvent() const;

  // Requests that were accepted and are not done.
  int64_t pending() const { return pending_; }
  // Accepted reads that are not done, and accepted writes that the memory doesn't have. Those in
  // the write buffer count, although they are done.
  struct Unserved {
    int64_t reads = 0;
    int64_t writes = 0;
  };
  Unserved CountUnserved() const;
  // What Tick and AdvanceTo completed, in order, until the caller clears it.
  std::vector<Completion>& completions() { return completions_; }
  // Of all clocks before now().
  ControllerCounts Counts() const;

 private:
  struct Transaction {
    int rank;
    QueuedRequest request;
  };

  // What is free in this clock. Memory without a bus for columns has one, and both are alike.
  struct Buses {
    bool row = true;
    bool column = true;

    bool operator==(const Buses&) const = default;
  };

  void Complete();
  void IssueForRefresh();
  // Issues what the due refresh needs first: hits to drain, and PRE of `banks`, a bit each.
  void IssueBeforeRefresh(const RefreshSchedule::Due& due, uint64_t banks);
  bool IssueForRequest();
  void IssueToCloseRow();
  void ChangePower();
  void Issue(const IssuedCommand& command);
  // The rank all of whose requests wait for a refresh, or kNone.
  static constexpr int kNone = -1;
  int RefreshingRank() const;
  RankQueue::Permit PermitOf(int rank) const;
  void ServeRequest(const RankQueue::Choice& choice);
  // Does the write buffer take the request, or have what it asks for?
  bool IsForWriteBuffer(const Transaction& transaction);
  bool HasRead(const Transaction& write) const;
  void MoveTransaction();
  bool MoveRead();
  bool MoveWrite();
  void Move(std::deque<Transaction>& from, std::deque<Transaction>::iterator transaction);

  // Constant after construction.
  const Organization organization_;
  const Timing timing_;
  const ControllerOptions options_;
  const size_t transactions_max_;
  const bool has_write_buffer_;
  const size_t write_buffer_max_;
  const bool permits_all_;  // PermitOf() has nothing to say

  Clock now_ = 0;
  BankStates states_;
  RefreshSchedule refresh_;
  std::deque<Transaction> transactions_;
  std::deque<Transaction> write_buffer_;
  size_t writes_to_move_ = 0;      // of those in the buffer when its emptying began
  std::vector<RankQueue> queues_;  // by rank
  // Until then no command for the rank's requests.
  std::vector<Clock> rank_wakes_;
  Clock refresh_wake_ = 0;     // until then: no command for the due refresh
  Clock close_wake_ = kNever;  // until then: no row is closed for its own sake
  Clock power_wake_;           // until then: no rank's power changes, unless something else happens
  bool may_move_ = false;      // whether a transaction may find room in the next clock
  size_t idle_writes_max_;     // options_', or 0 at the end
  int last_served_rank_;
  Buses free_;
  // First come: the ranks of the requests in command queues, the oldest request's first.
  std::deque<int> ranks_in_order_;

  // On the data bus or waiting for it, each in the order of `done`.
  std::deque<Completion> reads_under_way_;
  std::deque<Completion> writes_under_way_;
  std::deque<Completion> done_by_buffer_;
  std::vector<Completion> completions_;
  int64_t pending_ = 0;
  ControllerCounts counts_;
};

}  // namespace weft::sim
