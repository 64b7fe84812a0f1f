// The flags of `weft serve`, one row each, and how each takes its value.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "compaction/device/executors.h"
#include "server/options_draft.h"

namespace weft::server {
namespace {

constexpr const char* kServing = "Where it listens";
constexpr const char* kHolding = "What it holds";
constexpr const char* kPlaced = "Where the steps of a query run";
constexpr const char* kDurable = "What it keeps on disk";
constexpr const char* kClients = "What clients may do";
constexpr const char* kProcess = "The process";
constexpr const char* kOwn = "Weft's own";
constexpr const char* kAccepted = "memcached flags accepted without effect";

template <typename Number>
Status TakePositive(std::string_view value, const char* complaint, Number* number) {
  if (!base::ParseNumber(value, number)) return RefusedNumber<Number>(value, complaint);
  return *number <= 0 ? BadUsage(complaint) : Status();
}

Status TakePort(std::string_view value, int32_t* port) {
  if (!base::ParseNumber(value, port)) {
    return BadUsage("Invalid port number: \"" + std::string(value) + "\"");
  }
  if (*port < -1 || *port > 65535) {
    return BadUsage("Invalid port number " + std::string(value) + ".");
  }
  return {};
}

Status TakeItemMax(Draft& draft, std::string_view value) {
  uint64_t unit = 1;
  if (!value.empty()) {
    const char suffix = static_cast<char>(value.back() | 0x20);
    if (suffix == 'k') unit = uint64_t{1} << 10;
    if (suffix == 'm') unit = kMiB;
    if (suffix == 'g') unit = kMiB << 10;
    if (unit > 1) value.remove_suffix(1);
  }
  uint32_t count = 0;  // times a gigabyte, it fits
  if (!base::ParseNumber(value, &count)) {
    return RefusedNumber<uint32_t>(value,
                                   "Item max size is not a number: \"" + std::string(value) + "\"");
  }
  draft.options->item_bytes_max = count * unit;
  return {};
}

Status TakeBinding(Draft& draft, std::string_view value) {
  draft.binds = true;
  if (value == "binary") {
    draft.options->dialect = protocol::Dialect::kBinary;
  } else if (value == "auto") {
    draft.options->dialect = protocol::Dialect::kAny;
  } else if (value == "ascii") {
    draft.options->dialect = protocol::Dialect::kText;
  } else {
    return BadUsage("Invalid value for binding protocol: " + std::string(value) +
                    " -- should be one of auto, binary, or ascii");
  }
  return {};
}

Status TakeNetKind(Draft& draft, std::string_view value) {
  using Kind = net::EventLoop::Kind;
  if (value == "auto") {
    draft.options->net_kind = Kind::kAuto;
  } else if (value == "io_uring") {
    draft.options->net_kind = Kind::kUring;
  } else if (value == "epoll") {
    draft.options->net_kind = Kind::kEpoll;
  } else {
    return BadUsage("--net must be auto, io_uring or epoll, not \"" + std::string(value) + "\"");
  }
  return {};
}

Status TakeIndexPolicy(Draft& draft, std::string_view value) {
  if (value == "cuckoo") {
    draft.options->index_policy = IndexPolicy::kCuckoo;
  } else if (value == "set-associative") {
    draft.options->index_policy = IndexPolicy::kSetAssociative;
  } else {
    return BadUsage("--index must be cuckoo or set-associative, not \"" + std::string(value) +
                    "\"");
  }
  return {};
}

Status TakePlan(Draft& draft, std::string_view value) {
  draft.options->plan.reset();
  if (value == "auto") return {};
  auto plan = pipeline::Plan::Parse(value);
  if (!plan) return BadUsage("--plan: " + std::string(plan.error().message()));
  draft.options->plan = std::move(*plan);
  return {};
}

Status TakeDevices(Draft& draft, std::string_view value) {
  while (!value.empty()) {
    const std::string_view device = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), device.size() + 1));
    if (device.empty()) return BadUsage("--device must be a list of names separated by commas");
    draft.options->devices.emplace_back(device);
  }
  return draft.options->devices.empty() ? BadUsage("--device needs a device") : Status();
}

Status TakeLearn(Draft& draft, std::string_view value) {
  if (value != "on" && value != "off") return BadUsage("--learn must be on or off");
  draft.steers_planner = "--learn";
  draft.options->learns = value == "on";
  return {};
}

Status TakeSteal(Draft& draft, std::string_view value) {
  if (value != "on" && value != "off") return BadUsage("--steal must be on or off");
  draft.options->steal = value == "on";
  return {};
}

Status TakeGrowthFactor(Draft& draft, std::string_view value) {
  double factor = 0;
  constexpr const char* kComplaint = "Factor must be greater than 1";
  if (!base::ParseFinite(value, &factor)) return RefusedNumber<double>(value, kComplaint);
  if (!(factor > 1.0)) return BadUsage(kComplaint);
  draft.options->unused.growth_factor = fmt::format("{:.2f}", factor);
  draft.NoEffect("-f", "objects lie in a log; there are no slab classes");
  return {};
}

Status TakeUdpPort(Draft& draft, std::string_view value) {
  int32_t port = 0;
  Status status = TakePort(value, &port);
  if (status.ok() && port != 0) {
    draft.udp_port = port;
    draft.parsed->warnings.push_back("-U " + std::string(value) +
                                     " has no effect: there is no UDP; TCP is unaffected");
  }
  return status;
}

// The flags in the order of the help text. memcached's words for a bad value are kept.
constexpr Flag kTable[] = {
    {kServing, "-p,--port", "NUM", "TCP port (default 11211; 0: none; -1: the system picks one)",
     [](Draft& d, std::string_view v) { return TakePort(v, &d.options->tcp_port); }},
    {kServing, "-l,--listen", "ADDR",
     "comma-separated addresses to listen on, each host or host:port (default 127.0.0.1). Without "
     "-Y or -S nobody is asked for a password: listen on trusted networks only",
     [](Draft& d, std::string_view v) {
       if (v.empty()) return BadUsage("-l needs an address");
       d.listen_text += (d.listen_text.empty() ? "" : ",") + std::string(v);
       return Status();
     }},
    {kServing, "-B,--protocol", "NAME",
     "auto, ascii or binary: what clients speak; auto: a connection's first byte tells (default "
     "auto). proto[ascii]:, proto[binary]: or proto[negotiating]: before an address of -l says it "
     "of that address",
     TakeBinding},
    {kServing, "-s,--unix-socket", "FILE", "listen on this Unix socket instead of the network",
     [](Draft& d, std::string_view v) {
       d.options->unix_path = v;
       return v.empty() ? BadUsage("-s needs a path") : Status();
     }},
    {kServing, "-a,--unix-mask", "MASK", "access mask of the Unix socket, octal (default 700)",
     [](Draft& d, std::string_view v) {
       const bool valid = base::ParseNumber(v, &d.options->unix_mask, 8) &&
                          d.options->unix_mask >= 0 && d.options->unix_mask <= 0777;
       return valid ? Status() : BadUsage("Invalid access mask: \"" + std::string(v) + "\"");
     }},
    {kServing, "-c,--conn-limit", "NUM", "maximum number of connections (default 1024)",
     [](Draft& d, std::string_view v) {
       return TakePositive(v, "Maximum connections must be greater than 0",
                           &d.options->connections_max);
     }},
    {kServing, "-b,--listen-backlog", "NUM",
     "connections that may wait to be accepted (default 1024)",
     [](Draft& d, std::string_view v) {
       return TakePositive(v, "Backlog must be greater than 0", &d.options->backlog);
     }},
    {kServing, "-Z,--enable-ssl", nullptr,
     "speak TLS, with the certificate of -o ssl_chain_cert=FILE,ssl_key=FILE, which SIGHUP reads "
     "again. Before an address of -l, notls: means plain bytes, btls: no certificate of clients, "
     "and mtls: one of the authority in ssl_ca_cert",
     [](Draft& d, std::string_view) {
       d.seals = true;
       return Status();
     }},

    {kHolding, "-m,--memory-limit", "NUM", "memory for everything it stores, in MiB (default 64)",
     [](Draft& d, std::string_view v) {
       uint32_t mib = 0;
       Status status = TakePositive(v, "Memory limit must be greater than 0", &mib);
       d.options->memory_bytes = mib * kMiB;
       return status;
     }},
    {kHolding, "-M,--disable-evictions", nullptr,
     "refuse stores when memory is full, instead of evicting",
     [](Draft& d, std::string_view) {
       d.options->evict = false;
       return Status();
     }},
    {kHolding, "-I,--max-item-size", "NUM", "largest item in bytes; suffixes k, m, g (default 1m)",
     TakeItemMax},

    {kClients, "-D", "CHAR",
     "count commands by what stands before CHAR in their key, for `stats detail dump` (default :, "
     "and off)",
     [](Draft& d, std::string_view v) {
       if (v.empty()) return BadUsage("No delimiter specified");
       d.options->prefix_delimiter = v.front();
       d.options->detail_enabled = true;
       return Status();
     }},
    {kClients, "-Y,--auth-file", "FILE",
     "clients of text must log in: FILE has lines of user:password, and SIGHUP reads it again",
     [](Draft& d, std::string_view v) {
       d.options->auth_path = v;
       return v.empty() ? BadUsage("-Y needs a file") : Status();
     }},
    {kClients, "-S,--enable-sasl", nullptr,
     "clients must log in by SASL (PLAIN), and speak the binary protocol. MEMCACHED_SASL_PWDB or "
     "-Y names the file of users and passwords",
     [](Draft& d, std::string_view) {
       d.options->sasl = true;
       return Status();
     }},
    {kClients, "-A,--enable-shutdown", nullptr, "allow clients to send `shutdown`",
     [](Draft& d, std::string_view) {
       d.options->allow_shutdown = true;
       return Status();
     }},
    {kClients, "-F,--disable-flush-all", nullptr, "refuse `flush_all`",
     [](Draft& d, std::string_view) {
       d.options->allow_flush_all = false;
       return Status();
     }},
    {kClients, "-X,--disable-dumping", nullptr,
     "refuse `stats cachedump` and `lru_crawler metadump`",
     [](Draft& d, std::string_view) {
       d.options->allow_dump = false;
       return Status();
     }},
    {kClients, "-W,--disable-watch", nullptr, "refuse `watch`",
     [](Draft& d, std::string_view) {
       d.options->allow_watch = false;
       return Status();
     }},

    // Read before the others: server/config_file.h.
    {kProcess, "--config", "FILE",
     "flags from FILE, one a line, as in memcached.conf; # begins a comment, and those behind "
     "--config go before",
     [](Draft&, std::string_view) { return Status(); }},
    {kProcess, "-t,--threads", "NUM", "number of worker threads (default 4)",
     [](Draft& d, std::string_view v) {
       return TakePositive(v, "Number of threads must be greater than 0", &d.options->threads);
     }},
    {kProcess, "-d,--daemon", nullptr, "run in the background",
     [](Draft& d, std::string_view) {
       d.options->daemonize = true;
       return Status();
     }},
    {kProcess, "-P,--pidfile", "FILE", "write the process id to FILE",
     [](Draft& d, std::string_view v) {
       d.options->pid_path = v;
       return v.empty() ? BadUsage("-P needs a path") : Status();
     }},
    {kProcess, "-u,--user", "USER", "switch to this user when started as root",
     [](Draft& d, std::string_view v) {
       d.options->user = v;
       return v.empty() ? BadUsage("-u needs a user") : Status();
     }},
    {kProcess, "-r,--enable-coredumps", nullptr, "raise the size limit of core files",
     [](Draft& d, std::string_view) {
       d.options->core_dumps = true;
       return Status();
     }},
    {kProcess, "-k,--lock-memory", nullptr, "lock memory, so that it is never swapped out",
     [](Draft& d, std::string_view) {
       d.options->lock_memory = true;
       return Status();
     }},
    {kProcess, "-v,--verbose", nullptr, "log more; -vv and -vvv log still more",
     [](Draft& d, std::string_view) {
       ++d.options->verbosity;
       return Status();
     }},
    {kProcess, "-o,--extended", "LIST", "comma-separated suboptions, listed below", TakeExtended},
    {kProcess, "-h,--help", nullptr, "print this help and exit",
     [](Draft& d, std::string_view) {
       d.prints = true;
       return Status();
     }},
    {kProcess, "-V,--version", nullptr, "print the version and exit",
     [](Draft& d, std::string_view) {
       d.prints = true;
       d.parsed->text = VersionLine() + "\n";
       return Status();
     }},
    {kProcess, "-i,--license", nullptr, "print the licence and exit",
     [](Draft& d, std::string_view) {
       d.prints = true;
       d.parsed->text = VersionLine() + "\nLicensed under the Apache License, Version 2.0.\n";
       return Status();
     }},

    {kPlaced, "--plan", "TEXT",
     "the steps of each stage and its processor, such as "
     "'[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu'; or auto: with a "
     "device the plan follows the workload, without one all steps run in one stage (default auto)",
     TakePlan},
    {kHolding, "-e,--memory-file", "FILE",
     "keep items in FILE, in a file system in memory such as /dev/shm, so that a server which was "
     "stopped by TERM, INT, USR1 or a client's shutdown finds them again when it is started "
     "(default: none)",
     [](Draft& d, std::string_view v) {
       d.options->memory_path = v;
       return v.empty() ? BadUsage("-e needs a file") : Status();
     }},
    {kHolding, "--memory-file-on-disk", nullptr,
     "let the file of -e lie on a disk, which is then written all the time",
     [](Draft& d, std::string_view) {
       d.options->memory_on_disk = true;
       return Status();
     }},

    {kPlaced, "--device", "LIST",
     "comma-separated devices that become gpu0, gpu1, ... of the plan: cpu (a separate thread), "
     "mirror, opencl:N, cuda:N, auto or none; `weft devices` lists them (default none)",
     TakeDevices},
    {kPlaced, "--device-batch-min", "NUM",
     "run batches of fewer queries in one stage on the CPU (default 64, or what the planner "
     "chooses)",
     [](Draft& d, std::string_view v) {
       return TakePositive(v, "--device-batch-min must be greater than 0",
                           &d.options->device_batch_min);
     }},
    {kPlaced, "--steal", "on|off", "let idle workers take parts of a device's stage (default on)",
     TakeSteal},
    {kPlaced, "--calibration", "FILE",
     "file that `weft calibrate` wrote, for --plan auto (default: this user's own, which the "
     "first start measures)",
     [](Draft& d, std::string_view v) {
       d.steers_planner = "--calibration";
       d.options->calibration_path = v;
       return v.empty() ? BadUsage("--calibration needs a file") : Status();
     }},
    {kPlaced, "--interval-us", "NUM",
     "largest mean latency of a batch that --plan auto accepts, in microseconds (default 1000)",
     [](Draft& d, std::string_view v) {
       d.steers_planner = "--interval-us";
       uint32_t us = 0;
       const bool good = base::ParseNumber(v, &us) && us >= 10 && us <= 10'000'000;
       d.options->interval_us = us;
       return good ? Status() : BadUsage("--interval-us must be from 10 to 10000000");
     }},
    {kPlaced, "--learn", "on|off",
     "let --plan auto correct the calibration by what it measures (default on)", TakeLearn},

    {kDurable, "--data", "DIR",
     "keep every item in a durable store in DIR, which is created if missing. Acknowledged changes "
     "survive the end of the process, and items not in memory are read from disk (default: none)",
     [](Draft& d, std::string_view v) {
       d.options->data_dir = v;
       return v.empty() ? BadUsage("--data needs a folder") : Status();
     }},
    {kDurable, "--sync-ms", "NUM",
     "acknowledged changes survive a power cut after at most this many milliseconds; 0 delays each "
     "reply until the change is on disk (default 100)",
     [](Draft& d, std::string_view v) {
       d.steers_data = "--sync-ms";
       return base::ParseNumber(v, &d.options->sync_ms) && d.options->sync_ms <= 3'600'000
                  ? Status()
                  : BadUsage("--sync-ms must be a number of milliseconds, at most an hour, not \"" +
                             std::string(v) + "\"");
     }},
    {kDurable, "--compaction-device", "NAME",
     "processor that merges the durable store's tables: cpu, auto (a GPU for large jobs, if there "
     "is one), cuda:N, or plain (the GPU's steps on the CPU, for tests) (default cpu)",
     [](Draft& d, std::string_view v) {
       d.steers_data = "--compaction-device";
       d.options->compaction_device = v;
       Status status = compaction::device::CheckName(v);
       if (status.ok()) return status;
       return BadUsage("--compaction-device: " + std::string(status.message()));
     }},
    {kDurable, "--compaction-direct-io", nullptr,
     "bypass the system's page cache when merging tables. Merges evict nothing from it, but the "
     "first read of merged data goes to the disk",
     [](Draft& d, std::string_view) {
       d.steers_data = "--compaction-direct-io";
       d.options->compaction_direct_io = true;
       return Status();
     }},
    {kDurable, "--lookup-threads", "NUM", "threads that read items from the disk (default 4)",
     [](Draft& d, std::string_view v) {
       d.steers_data = "--lookup-threads";
       Status status =
           TakePositive(v, "--lookup-threads must be greater than 0", &d.options->lookup_threads);
       return status.ok() && d.options->lookup_threads > 256
                  ? BadUsage("--lookup-threads must not be greater than 256")
                  : status;
     }},

    {kOwn, "--net", "KIND", "how to wait for sockets: auto, io_uring or epoll (default auto)",
     TakeNetKind},
    {kOwn, "--index", "KIND",
     "cuckoo, or set-associative, which may drop items early (default cuckoo)", TakeIndexPolicy},
    {kOwn, "--metrics-port", "NUM", "serve Prometheus metrics on this port (default: off)",
     [](Draft& d, std::string_view v) {
       Status status = TakePort(v, &d.options->metrics_port);
       if (status.ok() && d.options->metrics_port < 0) {
         return BadUsage("Invalid port number " + std::string(v) + ".");
       }
       return status;
     }},
    {kOwn, "--metrics-address", "ADDR", "address of the metrics port (default 127.0.0.1)",
     [](Draft& d, std::string_view v) {
       d.options->metrics_address = v;
       return v.empty() ? BadUsage("--metrics-address needs an address") : Status();
     }},
    {kOwn, "--metrics-host", "NAME",
     "a name by which clients may ask for the metrics port, besides localhost, this machine's and "
     "numbers; may be repeated",
     [](Draft& d, std::string_view v) {
       d.options->metrics_hosts.emplace_back(v);
       return v.empty() ? BadUsage("--metrics-host needs a name") : Status();
     }},
    {kOwn, "--metrics-memcached", nullptr,
     "add the series of Prometheus' memcached_exporter to the metrics page",
     [](Draft& d, std::string_view) {
       d.options->metrics_memcached = true;
       return Status();
     }},

    {kAccepted, "-U,--udp-port", "NUM", "there is no UDP; any port except 0 gives a warning",
     TakeUdpPort},
    {kAccepted, "-f,--slab-growth-factor", "NUM", "there are no slab classes", TakeGrowthFactor},
    {kAccepted, "-n,--slab-min-size", "NUM", "there are no slab classes",
     [](Draft& d, std::string_view v) {
       d.NoEffect("-n", "objects lie in a log; there are no slab classes");
       return TakePositive(v, "Chunk size must be greater than 0", &d.options->unused.chunk_bytes);
     }},
    {kAccepted, "-L,--enable-largepages", nullptr, "large pages are always requested",
     [](Draft& d, std::string_view) {
       d.NoEffect("-L", "large pages are always requested");
       return Status();
     }},
    {kAccepted, "-R,--max-reqs-per-event", "NUM", "connections share batches evenly without it",
     [](Draft& d, std::string_view v) {
       d.NoEffect("-R", "a batch always takes a bounded share of each connection's requests");
       return TakePositive(v, "Number of requests per event must be greater than 0",
                           &d.options->unused.requests_per_event);
     }},
    {kAccepted, "-C,--disable-cas", nullptr, "items always have a version",
     [](Draft& d, std::string_view) {
       d.options->unused.disable_cas = true;
       d.NoEffect("-C", "items always have a version");
       return Status();
     }},
    {kAccepted, "-N,--napi-ids,--napi_ids", "NUM",
     "a connection goes to the thread with the fewest",
     [](Draft& d, std::string_view v) {
       d.NoEffect("-N", "a connection goes to the thread with the fewest");
       return TakePositive(v, "Maximum number of NAPI IDs must be greater than 0",
                           &d.options->unused.napi_ids);
     }},
};

}  // namespace

std::span<const Flag> Flags() { return kTable; }

}  // namespace weft::server
