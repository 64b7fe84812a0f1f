// server/stats.h: the numbers of a server at one moment, and memcached's `stats` made of them.
//
// A ServerSnapshot is filled by the server, summed over its workers, and holds no pointer into it:
// the reports here, the metrics page (server/metrics.h) and tests read nothing else.
//
// Names     those of memcached 1.6.18, all of them and in its order, so that its tools work
//           unchanged. What cannot apply here (slab moves, the LRU crawler, ...) is 0. Slab classes
//           do not exist: `stats slabs` and `stats items` show one, of the mean object's size.
// Threads   plain values; StatsBaseline as it says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cache/session.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "pipeline/plan_runner.h"
#include "pipeline/task_times.h"
#include "planner/planner.h"
#include "protocol/counters.h"
#include "server/latency.h"
#include "server/options.h"
#include "server/watch_hub.h"
#include "tier/disk_tier.h"
#include "weft/cache.h"

namespace weft::server {

// protocol::CommandCounters, summed. Names are those of `stats`.
struct CommandTotals {
  uint64_t cmd_get = 0, cmd_set = 0, cmd_flush = 0, cmd_touch = 0, cmd_meta = 0;
  uint64_t get_hits = 0, get_misses = 0, get_expired = 0, get_flushed = 0;
  uint64_t delete_hits = 0, delete_misses = 0;
  uint64_t incr_hits = 0, incr_misses = 0, decr_hits = 0, decr_misses = 0;
  uint64_t cas_hits = 0, cas_misses = 0, cas_badval = 0;
  uint64_t touch_hits = 0, touch_misses = 0;
  uint64_t store_too_large = 0, store_no_memory = 0;
  uint64_t auth_cmds = 0, auth_errors = 0;
  uint64_t total_items = 0;
};

// cache::SessionCounters, summed.
struct SessionTotals {
  uint64_t evictions = 0, evicted_unread = 0;
  uint64_t expired = 0, expired_unread = 0;
  uint64_t ghosts_stored = 0;
  uint64_t young_hits = 0, main_hits = 0;  // of one hit in 64
  uint64_t carried = 0;
  uint64_t segments_freed = 0;
  uint64_t victim_looks = 0;
  uint64_t room_made = 0;
  uint64_t retries = 0;
  uint64_t overwritten = 0;
};

// pipeline::TaskTimes, summed.
struct PipelineTotals {
  std::array<uint64_t, pipeline::kTaskCount> time_ns = {};
  std::array<uint64_t, pipeline::kTaskCount> queries = {};
  uint64_t batches = 0;
  std::array<uint64_t, std::tuple_size_v<decltype(pipeline::TaskTimes::batch_sizes)>> batch_sizes =
      {};  // batches of 1, 2-3, 4-7, ... queries
};

// Stages on devices; see pipeline::RunnerCounters.
struct DeviceStageTotals {
  uint64_t batches = 0;
  uint64_t queries = 0;
  uint64_t time_ns = 0;
  uint64_t stolen_queries = 0;
  uint64_t reruns = 0;
  uint64_t refused = 0;
  uint64_t behind_queries = 0;
};

// A device of the plan, as gpu0, gpu1, ...
struct DeviceInfo {
  std::string name;
  std::string hardware;
  bool usable = true;
  uint64_t jobs = 0;
  uint64_t failures = 0;
  uint64_t queries = 0;
  std::string last_failure;
};

// A plan that took the place of another.
struct PlanChangeInfo {
  double age_s = 0;
  std::string from, to;
  std::string why;
};

struct ListenerInfo {
  int fd = -1;
  net::Transport transport = net::Transport::kTcp;
  std::string address;
};

struct ServerSnapshot {
  // The process; FillProcess sets pid, now_s and the two times.
  uint64_t pid = 0;
  uint64_t now_s = 0;  // Unix time, on the clock that items expire by
  uint64_t uptime_s = 0;
  uint64_t user_us = 0;  // processor time
  uint64_t system_us = 0;
  uint64_t threads = 0;
  std::string net_kind;  // "epoll", "io_uring"
  int verbosity = 0;
  bool detail_enabled = false;

  // Connections and bytes. net: LoopStats summed over the loops.
  net::LoopStats net;
  std::optional<net::TlsStats> tls;  // nothing without -Z
  uint64_t connections_max = 0;
  uint64_t connections_rejected = 0;
  uint64_t conn_yields = 0;  // times a connection had to let others go first

  // What clients asked for and what the store did.
  CommandTotals commands;
  SessionTotals sessions;
  PipelineTotals pipeline;
  std::string plan;
  std::optional<planner::PlannerStats> planner;  // where it chooses the plan
  std::string calibration;                   // of that: when it was measured, or how far that is
  std::vector<PlanChangeInfo> plan_changes;  // the last ones, the oldest first
  DeviceStageTotals device_stages;
  std::vector<DeviceInfo> devices;

  // The store.
  CacheStats cache;
  std::optional<tier::TierStats> data;  // the durable tier's, where there is one
  uint64_t limit_bytes = 0;
  uint64_t index_bytes = 0;
  bool index_growing = false;
  uint64_t memory_file_refusals = 0;

  WatchHub::Counts watch;
  // Only for `stats latency`, the metrics page and the like (StatsNeedsLatency).
  LatencyTotals latency;

  // Only for `stats conns` (StatsNeedsConnections): empty otherwise.
  std::vector<ListenerInfo> listeners;  // by listener_index
  std::vector<net::ConnectionInfo> connections;
  std::vector<uint64_t> watching;  // ids of those of them that watch

  // Each adds one worker's, session's or loop's numbers.
  void Add(const protocol::CommandCounters& counters);
  void Add(const cache::SessionCounters& counters);
  void Add(const pipeline::TaskTimes& times);
  void Add(const pipeline::RunnerCounters& counters);
  void Add(const processor::Guard& device);
  void Add(const net::LoopStats& loop);

  // `now_ns`: on the planner's clock.
  void AddChanges(const std::vector<planner::PlanChange>& changes, uint64_t now_ns);

  // Evictions of items that had been read.
  uint64_t evicted_read() const;

  // Sets what the system knows of this process.
  void FillProcess();
};

// What a `stats` command asks the server to do besides answering.
enum class StatsAction : uint8_t { kNone, kReset, kDetailOn, kDetailOff, kDetailDump };
StatsAction StatsActionOf(std::string_view arguments);

// The report without a line.
inline constexpr std::string_view kEmptyReport = "END\r\n";

// Whether a report is `stats cachedump` of the class that everything is of; then also how many
// keys are asked for, 0: all.
bool CachedumpLimit(std::string_view arguments, uint32_t* limit);

// Whether a report is `stats sizes`.
bool WantsSizes(std::string_view arguments);

// Whether the report wants ServerSnapshot::listeners and connections, which cost a lock each loop.
bool StatsNeedsConnections(std::string_view arguments);

// Whether it wants ServerSnapshot::latency, which takes microseconds a worker to sum up.
bool StatsNeedsLatency(std::string_view arguments);

// The whole reply: "STAT name value\r\n" lines and "END\r\n", or what memcached says instead.
// `snapshot` is as StatsBaseline::Since gave it.
std::string StatsText(std::string_view arguments, const ServerSnapshot& snapshot,
                      const ServerOptions& options);

// Where `stats reset` set the counters to zero. The counters themselves go on: the metrics page
// needs them never to fall.
// Threads: any.
class StatsBaseline {
 public:
  // Counts from `now` on.
  void Reset(const ServerSnapshot& now) WEFT_EXCLUDES(mutex_);
  // `now` with the counters as they have grown since the last Reset. Levels (items, bytes, open
  // connections, ...) stay what they are.
  ServerSnapshot Since(ServerSnapshot now) const WEFT_EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  ServerSnapshot base_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::server
