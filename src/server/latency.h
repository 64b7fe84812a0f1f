// server/latency.h: how long requests took, by class of command.
//
// Measured  from the moment at which a turn of the loop has its bytes, to the moment at which the
//           replies of the turn are handed to the system. Two readings of the clock a turn serve
//           all its requests. A request that waits for the disk, for a device or for its turn
//           counts from the turn that brought it. Time in the system's buffers, and the time that
//           a client takes to read, are the client's to measure.
// Layout    log-linear: values below 32 ns have a cell each, and every further power of two has 16
//           equal cells. So the middle of a cell is within 3.2 % of every value in it.
// Units     nanoseconds. What takes longer than kValueMax counts as that.
// Threads   TurnLatency: its worker's; `cells` are read by any. LatencyTotals: plain values.
// Cost      an addition a row of requests, and some twenty instructions a turn. 33 KiB a worker.
// Source    the idea of HdrHistogram (G. Tene).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/counter.h"
#include "base/ticks.h"
#include "cache/command.h"

namespace weft::server {

// Those of cache::Verb, in its order, and all that is about no key.
enum class LatencyClass : uint8_t { kGet, kSet, kDelete, kArithmetic, kTouch, kOther };
inline constexpr size_t kLatencyClasses = 6;
// "get", "set", "delete", ...
std::string_view LatencyClassName(LatencyClass of);
inline LatencyClass LatencyClassOf(cache::Verb verb) { return static_cast<LatencyClass>(verb); }

inline constexpr int kLatencyPartBits = 4;
inline constexpr int kLatencyBits = 36;
inline constexpr uint64_t kLatencyMaxNs = (uint64_t{1} << kLatencyBits) - 1;  // 68.7 s
inline constexpr size_t kLatencyCells = size_t{kLatencyBits - kLatencyPartBits + 1}
                                        << kLatencyPartBits;

inline size_t LatencyCellOf(uint64_t ns) {
  ns = std::min(ns, kLatencyMaxNs);
  constexpr uint64_t kSingle = (uint64_t{2} << kLatencyPartBits) - 1;  // a cell each up to here
  const auto shift =
      static_cast<uint32_t>(std::bit_width(ns | kSingle)) - (uint32_t{kLatencyPartBits} + 1);
  return (size_t{shift} << kLatencyPartBits) + (ns >> shift);
}
// The least value of the cell; of kLatencyCells, one more than the greatest of all.
uint64_t LatencyCellBegin(size_t cell);

using LatencyCells = std::array<uint64_t, kLatencyCells>;

// The counts of several workers. All are 0 where nobody has asked for them, and take no memory.
class LatencyTotals {
 public:
  const LatencyCells& Of(LatencyClass of) const;
  LatencyCells& Of(LatencyClass of);
  // Of all classes.
  LatencyCells Sum() const;
  // What has been counted since `before`.
  void Subtract(const LatencyTotals& before);

 private:
  std::vector<LatencyCells> cells_;  // by class, once somebody adds
};

// What a report says of some cells: all zero where there was no request.
struct LatencySummary {
  uint64_t count = 0;
  double mean_ns = 0;
  uint64_t p50_ns = 0, p90_ns = 0, p99_ns = 0, p999_ns = 0, max_ns = 0;
};
LatencySummary Summarize(const LatencyCells& cells);

// A worker's.
class TurnLatency {
 public:
  TurnLatency();

  // The turn's bytes are there. Returns the time, in nanoseconds that rise, except where the
  // processor's counter steps back. REQUIRES: the turn before has ended
  uint64_t BeginTurn(uint64_t now_ticks = base::ReadTicks()) {
    began_ = now_ticks;
    return NsOf(began_);
  }
  // When it was, for a request that will be answered in another turn; never 0.
  uint64_t began_ticks() const { return began_; }
  // So many requests were answered in this turn. `since`: began_ticks of the turn that brought
  // them; 0: this one.
  void Note(LatencyClass of, uint64_t requests, uint64_t since = 0) {
    if (since != 0) [[unlikely]]
      return NoteLate(of, requests, since);
    answered_[static_cast<size_t>(of)] += requests;
    classes_ |= 1u << static_cast<uint32_t>(of);
  }
  // The replies of the turn, if there were any, have left.
  void EndTurn() {
    uint32_t classes = classes_;
    if (classes - 1 >= kLateBit - 1) [[unlikely]]  // none, or late ones
      return classes == 0 ? void() : EndLate();
    const uint64_t now = base::ReadTicks();
    const size_t cell = LatencyCellOf(NsOf(now - std::min(now, began_)));
    classes_ = 0;
    do {
      const auto i = static_cast<size_t>(std::countr_zero(classes));
      cells_[cell][i].Add(answered_[i]);
      answered_[i] = 0;
      classes &= classes - 1;
    } while (classes != 0);
  }

  void AddTo(LatencyTotals* totals) const;

 private:
  using Answered = std::array<uint64_t, kLatencyClasses>;
  static constexpr uint32_t kLateBit = 1u << kLatencyClasses;
  struct Late {
    uint64_t began;
    Answered answered;
  };

  uint64_t NsOf(uint64_t ticks) const {
    // Signed, which takes an instruction each way.
    const auto signed_ticks = static_cast<double>(static_cast<int64_t>(ticks));
    return static_cast<uint64_t>(static_cast<int64_t>(signed_ticks * ns_per_tick_));
  }
  void NoteLate(LatencyClass of, uint64_t requests, uint64_t since);
  void EndLate();

  const double ns_per_tick_;
  uint64_t began_ = 0;
  uint32_t classes_ = 0;    // a bit each that `answered_` has some of; kLateBit: so has `late_`
  Answered answered_ = {};  // in this turn
  std::vector<Late> late_;  // likewise, what other turns brought
  // Those of a cell lie together: a turn with several classes touches one line.
  std::array<std::array<base::Counter, 8>, kLatencyCells> cells_;
};

}  // namespace weft::server
