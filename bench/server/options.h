// bench/server/options.h: the options of the benchmarks of servers, and their names.
//
// Each Run... prints and records its rows in `report`. A Status other than OK means that there is
// no figure: a server did not start, refused what it must hold, or answered wrongly.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/defaults.h"
#include "bench/harness/peer.h"
#include "bench/harness/report.h"
#include "bench/target/tls_identity.h"

namespace weft::bench {

struct ServerOptions {
  PeerSpec subject;
  PeerSpec peer;
  std::vector<int> server_cpus = {defaults::kServerCpu};
  std::vector<int> client_cpus = {defaults::kClientCpu};  // one client thread each
  uint64_t memory_mb = defaults::kServerMemoryMb;
  uint32_t keys = defaults::kServerKeys;
  uint32_t key_bytes = defaults::kKeyBytes;
  uint32_t value_bytes = defaults::kValueBytes;
  double get_share = defaults::kGetShare;
  bool zipf = false;
  int connections = defaults::kConnections;
  int threads = 1;
  int repetitions = defaults::kRepetitions;
  double run_s = defaults::kRunS;
  double warmup_s = defaults::kWarmupS;
  uint64_t seed = defaults::kSeed;
  std::optional<double> target;            // replaces the defaults of every row
  bool binary = false;                     // requests are those of memcached's binary protocol
  std::shared_ptr<const TlsIdentity> tls;  // servers and client have TLS with it; null: none
};

struct LatencyOptions {
  std::vector<int> depths = {1, defaults::kDeepDepth};
  double load = defaults::kLatencyLoad;
  double rate = 0;  // operations a second; 0: `load` of the peer's top rate
  bool poisson = false;
};

struct HitRatioOptions {
  uint64_t memory_mb = defaults::kHitRatioMemoryMb;
  double scale = 1;               // of the number of requests
  std::vector<std::string> only;  // names of traces; empty: all
};

// CPU seconds of the server per million operations. Cases: depth-1, depth-32, multiget-100 (gets of
// 100 keys, in text alone); empty: all. kUnsupported: one of the two servers is known to have no
// binary protocol, or other flags for TLS than memcached's.
Status RunServer(const ServerOptions& options, const std::vector<std::string>& cases,
                 Report& report);
// p50, p99 and p99.9 at a fixed rate.
Status RunLatency(const ServerOptions& options, const LatencyOptions& latency, Report& report);
// Two workers against one.
Status RunScaling(const ServerOptions& options, Report& report);
// Resident bytes an item.
Status RunMemory(const ServerOptions& options, uint32_t items, Report& report);
// Hits of a cache that cannot hold everything.
Status RunHitRatio(const ServerOptions& options, const HitRatioOptions& hit_ratio, Report& report);

}  // namespace weft::bench
