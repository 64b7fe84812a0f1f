// server/options.h: the options of `weft serve`, and how its command line is read.
//
// Every flag of memcached 1.6 is accepted, short and long, in the forms that people write
// (-p11211, -p 11211, --port=11211, -vvM). A flag falls into one of two kinds:
//   in force     it changes what the server does;
//   no effect    it steers a mechanism that does not exist here (slab classes, the LRU crawler,
//                ...). It is accepted, and one note says so and why.
// Defaults are memcached's, except the address: only this machine may connect unless -l says more.
//
// Threads   values and pure functions; ParseOptions may ask the system's resolver (-l names).
// Errors    kInvalidArgument: a flag or value that memcached would refuse as well, in its words if
//           it has any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/address.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "net/transport.h"
#include "pipeline/plan.h"
#include "protocol/dialect.h"
#include "weft/cache.h"
#include "weft/status.h"

namespace weft::server {

inline constexpr std::string_view kWeftVersion = "0.1.0";

// The answer of `version` and `stats`: the release of memcached that we behave as. Clients read it
// to know which commands they may send. Some take each part between dots for a number, so it has
// only digits and dots. `stats pipeline`, `weft version` show our own release.
inline constexpr std::string_view kVersionText = "1.6.18";

// A power cut undoes at most the changes acknowledged in this many milliseconds before it.
inline constexpr uint32_t kSyncMsDefault = 100;

// Flags for mechanisms that do not exist here, kept because `stats settings` shows them.
struct UnusedSettings {
  std::string growth_factor = "1.25";
  uint64_t chunk_bytes = 48;
  uint64_t requests_per_event = 20;
  uint64_t napi_ids = 0;
  bool disable_cas = false;
  std::map<std::string, std::string, std::less<>> extended;  // -o suboptions as given
  // Whether memcached would have these; if not, its reports omit their lines.
  bool slab_reassign = true;
  bool lru_crawler = true;
  bool lru_maintainer = true;
};

// An address of -l.
struct ListenAt : net::HostPort {
  ListenAt(std::string host_, uint16_t port_, protocol::Dialect dialect_ = protocol::Dialect::kAny,
           net::TlsMode tls_ = net::TlsMode::kNone)
      : net::HostPort{std::move(host_), port_}, dialect(dialect_), tls(tls_) {}

  protocol::Dialect dialect;
  net::TlsMode tls;
};

struct ServerOptions {
  // Where it listens.
  std::vector<ListenAt> tcp = {{"127.0.0.1", 11211}};  // port 0: the system picks
  // -B: of the Unix socket, and of addresses that name none.
  protocol::Dialect dialect = protocol::Dialect::kAny;
  int32_t tcp_port = 11211;               // -p as given; 0: no TCP, -1: the system picks
  std::string listen_text = "127.0.0.1";  // -l as given
  std::string unix_path;                  // set: no TCP
  int unix_mask = 0700;
  int backlog = 1024;
  uint32_t connections_max = 1024;
  uint64_t idle_timeout_s = 0;  // 0: never
  net::EventLoop::Kind net_kind = net::EventLoop::Kind::kAuto;

  // What it holds.
  uint64_t memory_bytes = uint64_t{64} << 20;
  uint64_t item_bytes_max = uint64_t{1} << 20;
  bool evict = true;
  uint64_t expected_items = 0;  // 0: the index starts small and grows
  IndexPolicy index_policy = IndexPolicy::kCuckoo;
  std::string memory_path;      // -e: the file in memory that items lie in; empty: none
  bool memory_on_disk = false;  // that file may lie on a disk

  // Where the tasks of a query run.
  std::optional<pipeline::Plan> plan;  // none: the planner chooses, if there is a device
  std::vector<std::string> devices;    // gpu0, gpu1, ... of the plan
  uint32_t device_batch_min = 0;       // smaller batches go through one stage on the CPU;
                                       // 0: kDeviceBatchMinDefault, or as the planner says
  bool steal = true;                   // the CPU may take part in a device's stage
  std::string calibration_path;        // empty: this user's, measured if there is none
  double interval_us = 1000;           // mean latency of a batch that the planner allows
  bool learns = true;                  // the planner corrects its figures by what it sees

  // The durable store below it.
  std::string data_dir;               // empty: none
  uint32_t sync_ms = kSyncMsDefault;  // 0: each batch is synced before it is answered
  uint32_t lookup_threads = 4;
  std::string compaction_device = "cpu";
  bool compaction_direct_io = false;

  // Logging in.
  std::string auth_path;  // -Y: users and passwords; empty: nobody is asked
  bool sasl = false;      // -S: clients log in by SASL, and speak the binary protocol
  std::string sasl_path;  // of the environment: users and passwords; empty: auth_path

  // -Z: the certificate and what goes with it. Nothing: bytes travel plainly.
  std::optional<net::TlsOptions> tls;

  // What clients may do.
  bool allow_flush_all = true;
  bool allow_dump = true;  // stats cachedump, lru_crawler metadump
  bool allow_watch = true;
  uint64_t watcher_logbuf_bytes = uint64_t{256} << 10;  // of lines, for each who watches
  uint64_t worker_logbuf_bytes = uint64_t{64} << 10;    // of events, for each thread
  bool allow_shutdown = false;
  bool detail_enabled = false;  // -D, stats detail on
  char prefix_delimiter = ':';  // -D
  bool track_sizes = false;     // -o track_sizes: stats sizes

  // The process.
  uint32_t threads = 4;
  int verbosity = 0;
  bool daemonize = false;
  bool core_dumps = false;
  bool lock_memory = false;
  std::string user;  // become this user when started by root
  std::string pid_path;
  std::string port_path;  // of the environment: see server/port_file.h

  // The metrics page.
  int32_t metrics_port = -1;  // -1: none, 0: the system picks
  std::string metrics_address = "127.0.0.1";
  std::vector<std::string> metrics_hosts;  // names by which clients may ask for it
  bool metrics_memcached = false;          // it also has memcached_exporter's families

  UnusedSettings unused;
};

struct ParsedOptions {
  enum class Action : uint8_t {
    kServe,  // run a server with `server`
    kPrint,  // print `text` and end
  };
  Action action = Action::kServe;
  ServerOptions server;
  std::string text;
  std::vector<std::string> notes;     // flags without effect, one line each
  std::vector<std::string> warnings;  // for the operator to know
};

// Reads the words behind `weft serve`.
Result<ParsedOptions> ParseOptions(const std::vector<std::string>& words);

// "weft 0.1.0".
std::string VersionLine();

}  // namespace weft::server
