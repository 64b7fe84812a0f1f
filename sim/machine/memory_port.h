// sim/machine/memory_port.h: stands in front of a channel's Controller: requests that wait for room
// in its queue, and lines that a prefetching unit asks for.
//
//     Read, Write -----------------------> waiting, by age --> Controller --> PortClient
//     Prefetch --> staging (a few, the newest is dropped) --^
//
// A request is offered in the first clock that begins after it came. All that find room are
// accepted in it, except those of a line that a write waits for. If a prefetch of its line waits or
// is under way, a demand read takes that over. A prefetch of a line that is under way adds no
// request; the unit hears of it when the line is here. Prefetches wait with demand requests, by
// age, or (`demand_first`) until the channel has no demand read; those older than `drop_age` are
// dropped.
//
// With `buffer_lines` prefetched lines stay here: the first read takes one out, a write drops it,
// and the oldest makes room for a new one.
//
// Units     Time (picoseconds) outside, clocks inside. Clock c begins at c * tck.
// Threads   one owner.
// Source    the simulator's specification, sections 1.3, 3.2 and 3.7.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/base/time.h"
#include "sim/cache/l2_cache.h"
#include "sim/core/core.h"
#include "sim/dram/address_map.h"
#include "sim/dram/controller.h"

namespace weft::sim {

struct PortOptions {
  int staging_max = 64;
  bool demand_first = false;
  Clock drop_age = 0;    // 0: never dropped for age
  int buffer_lines = 0;  // 0: prefetched lines go to L2
};

// What became of a line that a unit asked for.
enum class PrefetchOutcome : uint8_t {
  kTimely,     // a core found it
  kLate,       // a core's read met it on its way
  kRedundant,  // no need: it was here already, or asked for
  kUseless,    // it left, or the run ended, before a core asked
  kDropped,    // refused: no room for it, too old, or no line of the memory
  kDuplicate,  // a core's read went to memory as well: it had left when the line came
};
inline constexpr int kPrefetchOutcomes = 6;
// As in results.
inline constexpr const char* kOutcomeNames[kPrefetchOutcomes] = {
    "timely", "late_merged", "redundant", "useless", "dropped", "dup"};

// The unit that asked for a line, by its channel, and its own number for the line.
struct Asker {
  int unit = 0;
  uint64_t id = 0;
};

class PortClient {
 public:
  virtual ~PortClient() = default;
  // A demand read's line is at the controller.
  virtual void OnReadDone(int channel, const L2Request& request, Time now) = 0;
  // A prefetched line is there, and goes to L2.
  virtual void OnPrefetchDone(int channel, uint64_t line, Time now) = 0;
  // A line that was asked for is at the controller, or was dropped.
  virtual void OnAsked(const Asker& asker, bool was_dropped, Time now) = 0;
  virtual void OnOutcome(PrefetchOutcome outcome) = 0;
};

// Sums since the beginning of time. In clocks, unless the name says otherwise.
struct PortFigures {
  static constexpr size_t kLatencyClocksMax = 1023;  // longer ones count as this

  Clock clocks = 0;
  ControllerCounts controller;
  Mean demand_latency;        // of reads, from acceptance to the last beat of data
  Mean prefetch_latency;      // likewise: of those that no demand read met
  Mean wait;                  // of all requests: from coming to acceptance
  int64_t queued_clocks = 0;  // sum over clocks of the requests accepted and not done
  std::array<int64_t, kLatencyClocksMax + 1> demand_latencies{};  // how many of each length
};

class MemoryPort {
 public:
  // `map` and `client` must outlive it. REQUIRES: Validate(preset.organization).ok()
  MemoryPort(int channel, const Preset& preset, const AddressMap& map,
             const ControllerOptions& controller, const PortOptions& options, PortClient* client);

  // When the next clock begins in which something may happen.
  Time next() const { return next_; }
  // Performs that clock.
  void Tick();

  // These come now, after the clock that begins now.
  void Read(const L2Request& request, Time now);
  void Write(uint64_t line, Time now);
  void Prefetch(uint64_t line, const Asker& asker, Time now);

  bool is_idle() const { return under_way_ == 0; }
  // No more requests come: writes that wait in the controller's buffer go to the memory.
  // REQUIRES: is_idle()
  void WriteOut();
  // Nothing is left over: every request that came was accepted and done, once.
  void CheckConservation() const;
  void DropBuffered();
  // Of all clocks that have begun by `now`. REQUIRES: nothing happens until then
  PortFigures FiguresAt(Time now);
  // ... or that are over, if one begins at `now` and wasn't performed.
  PortFigures FiguresBefore(Clock clock);

 private:
  enum class Kind : uint8_t { kFree, kRead, kWrite, kPrefetch };
  struct Request {
    Kind kind = Kind::kFree;
    bool is_accepted = false;
    Clock came = 0;  // the clock of the first offer
    L2Request demand;
    std::vector<Asker> askers;
  };

  static constexpr size_t kNoRequest = SIZE_MAX;
  size_t Add(Kind kind, uint64_t line, Time now);
  void Remove(size_t index);
  size_t Find(uint64_t line, bool prefetches_only) const;
  void Promote(size_t index, const L2Request& request, Time now);
  bool TakeFromBuffer(uint64_t line);
  void PutIntoBuffer(uint64_t line);
  void DropOld(Clock clock, Time now);
  bool MayAccept(const Request& request) const;
  void AcceptWaiting();
  void Finish(const Completion& completion, Time now);
  void CountQueued(Clock clock);
  void FindNext();
  Clock ClockAfter(Time now) const { return now / tck_ + 1; }

  // Constant after construction.
  const int channel_;
  const Time tck_;
  const AddressMap& map_;
  const PortOptions options_;
  PortClient* const client_;

  Controller controller_;
  Time next_;
  std::vector<Request> requests_;  // by the id that the controller has
  std::vector<uint64_t> lines_;    // of them; writes have none
  std::vector<size_t> free_;
  std::deque<size_t> waiting_;  // not accepted, the oldest first
  int reads_waiting_ = 0;
  int staged_ = 0;                       // prefetches among them
  std::vector<uint64_t> passed_writes_;  // for AcceptWaiting: lines of writes without room
  int prefetches_ = 0;
  int demand_reads_ = 0;  // accepted and not done
  int64_t under_way_ = 0;
  std::deque<uint64_t> buffer_;  // the oldest first

  int64_t came_ = 0;
  int64_t accepted_ = 0;
  int64_t done_ = 0;
  int64_t dropped_ = 0;
  Clock counted_until_ = 0;  // queued_clocks
  PortFigures figures_;
};

}  // namespace weft::sim
