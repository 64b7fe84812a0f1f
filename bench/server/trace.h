// bench/server/trace.h: request sequences for caches that are too small, and the cache-aside client
// that plays them: get; on a miss, set.
//
// A trace is fixed by its seed. It is played over one connection, so that both servers see exactly
// the same order, whatever their speed. Traces with times to live are paced, so that the same
// requests meet the same seconds.
//
// Threads: one client each.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/target/target.h"
#include "bench/workload/key_chooser.h"
#include "bench/workload/size_distribution.h"

namespace weft::bench {

enum class Ttl : uint8_t {
  kNever,
  kThousand,  // each key one of 1 to 1,000 s
  kShort,     // each key one of 1, 2, 3, 5, 10, 20, 60 or 3,600 s
};

struct TraceSpec {
  std::string name;
  std::string story;  // one line for the reader of the report
  SizeDistribution value_bytes;
  uint32_t keys = 0;           // that the Zipf law is over
  uint64_t warm_requests = 0;  // uncounted
  uint64_t requests = 0;       // counted
  uint32_t scan_every = 0;     // Zipf requests between scans; 0: none
  uint32_t scan_keys = 0;      // keys of one scan, never asked for again
  Ttl ttl = Ttl::kNever;
  double rate = 0;  // requests a second; 0: as fast as they go
};

// All traces, their key counts chosen so that `memory_mb` is a tenth of the data's bytes.
std::vector<TraceSpec> Traces(uint64_t memory_mb, double scale);

struct HitCounts {
  uint64_t requests = 0;  // counted ones: no warm-up, no scan
  uint64_t hits = 0;
  uint64_t scan_requests = 0;
  uint64_t scan_hits = 0;   // must be none: nobody stored those keys
  uint64_t stale_hits = 0;  // values that came back two seconds or more after their end
  uint64_t refused_sets = 0;
  uint64_t late_rounds = 0;  // paced rounds that began more than 100 ms late

  double HitRatio() const {
    return requests == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(requests);
  }
};

inline constexpr uint32_t kTraceKeyBytes = 16;

class TracePlayer {
 public:
  TracePlayer(const TraceSpec& spec, uint64_t seed);
  // All of it, on one connection, whose values have the trace's sizes. The session's errors.
  Status Play(Session* session);

  const HitCounts& counts() const { return counts_; }
  // Share of the trace that has been asked for. Any thread.
  double Progress() const {
    const uint64_t asked = asked_.load(std::memory_order_relaxed);
    return static_cast<double>(asked) / static_cast<double>(total_);
  }

 private:
  void MakeRound();
  void CountRound(std::span<const Outcome> outcomes);
  uint32_t NextId();
  uint32_t TtlOf(uint32_t id) const;
  void Pace();
  void Count(uint32_t id, bool hit, uint64_t now_ns);

  const TraceSpec spec_;
  const uint64_t total_;
  KeyChooser chooser_;
  base::Random random_;
  HitCounts counts_;
  std::vector<Operation> round_;
  std::atomic<uint64_t> asked_{0};  // relaxed: progress only
  uint64_t answered_ = 0;
  uint32_t until_scan_;
  uint32_t scan_left_ = 0;
  uint32_t scan_next_;             // ids above the Zipf keys
  std::vector<uint32_t> missed_;   // to be stored at the head of the next round
  std::vector<uint64_t> ends_ns_;  // of each key's last stored value; empty without TTLs
  uint64_t start_ns_ = 0;
};

}  // namespace weft::bench
