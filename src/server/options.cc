#include "server/options.h"

#include <CLI/CLI.hpp>

#include "server/config_file.h"
#include "server/options_draft.h"

namespace weft::server {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// What stands in "proto[...]:".
Status TakeProtocol(std::string_view item, protocol::Dialect* dialect) {
  if (item.starts_with("proto[ascii]")) {
    *dialect = protocol::Dialect::kText;
  } else if (item.starts_with("proto[binary]")) {
    *dialect = protocol::Dialect::kBinary;
  } else if (item.starts_with("proto[negotiating]")) {
    *dialect = protocol::Dialect::kAny;
  } else {
    return BadUsage("-l: Invalid protocol spec: \"" + std::string(item) + "\"");
  }
  return {};
}

constexpr std::pair<std::string_view, net::TlsMode> kTlsPrefixes[] = {
    {"notls:", net::TlsMode::kNone},
    {"btls:", net::TlsMode::kAnyone},
    {"mtls:", net::TlsMode::kCertified},
};

bool StripTls(std::string_view* item, net::TlsMode* mode) {
  for (const auto& [prefix, its_mode] : kTlsPrefixes) {
    if (!item->starts_with(prefix)) continue;
    *mode = its_mode;
    item->remove_prefix(prefix.size());
    return true;
  }
  return false;
}

// "proto[ascii]:", "tag[name]:" and those of TLS may stand before an address of -l.
Status StripPrefixes(std::string_view* item, protocol::Dialect* dialect, net::TlsMode* tls) {
  while (true) {
    if (StripTls(item, tls)) continue;
    if (item->starts_with("tag[") || item->starts_with("proto[")) {
      const size_t close = item->find("]:");
      if (close == item->npos) {
        return BadUsage("-l: Invalid protocol spec: \"" + std::string(*item) + "\"");
      }
      if (item->starts_with("proto[")) {
        if (Status status = TakeProtocol(*item, dialect); !status.ok()) return status;
      }
      item->remove_prefix(close + 2);
    } else {
      return {};
    }
  }
}

// memcached's words.
constexpr const char* kNoText = "You cannot allow the ASCII protocol while using SASL.";
constexpr const char* kNoBinary =
    "You cannot allow the BINARY protocol while using ascii authentication tokens.";

// Whether clients can log in by the protocol that an address names.
Status CheckDialect(Draft& draft, protocol::Dialect dialect, bool is_named) {
  const ServerOptions& options = *draft.options;
  if (!is_named || (options.auth_path.empty() && !options.sasl)) return {};
  if (options.sasl && dialect == protocol::Dialect::kText) return BadUsage(kNoText);
  if (!options.sasl && dialect == protocol::Dialect::kBinary) return BadUsage(kNoBinary);
  if (dialect == protocol::Dialect::kAny)
    draft.parsed->warnings.push_back(std::string("proto[negotiating]: only the ") +
                                     (options.sasl ? "binary" : "ascii") +
                                     " protocol is served there, because clients must log in");
  return {};
}

// Logging in goes with one protocol.
Status ResolveLogin(Draft& draft) {
  ServerOptions& options = *draft.options;
  if (options.auth_path.empty() && !options.sasl) return {};
  if (draft.udp_port != 0)
    return BadUsage(std::string("Cannot use UDP with ") + (options.sasl ? "SASL" : "ascii") +
                    " authentication enabled (-U 0 to disable)");
  if (draft.binds) {
    if (options.sasl && options.dialect != protocol::Dialect::kBinary) return BadUsage(kNoText);
    if (!options.sasl && options.dialect != protocol::Dialect::kText) return BadUsage(kNoBinary);
  }
  options.dialect = options.sasl ? protocol::Dialect::kBinary : protocol::Dialect::kText;
  return {};
}

Status ResolveListen(Draft& draft) {
  ServerOptions& options = *draft.options;
  if (!draft.listen_text.empty()) options.listen_text = draft.listen_text;
  options.tcp.clear();
  if (!options.unix_path.empty()) return {};
  if (options.tcp_port == 0) return BadUsage("-p: nothing to listen on: -p 0 without -s");
  const uint16_t port = options.tcp_port < 0 ? 0 : static_cast<uint16_t>(options.tcp_port);
  std::string_view list = options.listen_text;
  while (!list.empty()) {
    const size_t comma = list.find_first_of(",; ");
    std::string_view item = list.substr(0, comma);
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
    if (item.empty()) continue;
    protocol::Dialect dialect = options.dialect;
    const bool has_protocol = item.find("proto[") != item.npos;
    net::TlsMode tls = options.tls ? net::TlsMode::kAsSet : net::TlsMode::kNone;
    Status status = StripPrefixes(&item, &dialect, &tls);
    if (status.ok()) status = CheckTls(draft, tls);
    if (!status.ok()) return status;
    Result<net::HostPort> where = net::ParseHostPort(item, port);
    if (!where) return BadUsage("-l: " + std::string(where.error().message()));
    if (where->host == "*") where->host.clear();
    if (Status agrees = CheckDialect(draft, dialect, has_protocol); !agrees.ok()) return agrees;
    options.tcp.emplace_back(where->host, where->port, dialect, tls);
  }
  return options.tcp.empty() ? BadUsage("-l needs an address") : Status();
}

bool IsLoopback(const net::SocketAddress& address) {
  const std::string text = address.ToString();
  return text.starts_with("127.") || text.starts_with("[::1]") || text.starts_with("[::ffff:127.");
}

// Whether only those who have a certificate of the authority come in by it.
bool AsksForCertificate(const ServerOptions& options, net::TlsMode mode) {
  return mode == net::TlsMode::kCertified ||
         (mode == net::TlsMode::kAsSet && options.tls->verify >= net::TlsOptions::Verify::kRequire);
}

std::string WhatIsExposed(bool asks, bool sealed) {
  if (!asks)
    return std::string("AUTHENTICATION") + (sealed ? "" : " OR ENCRYPTION") +
           ": whoever reaches the port can read, change and drop everything";
  return "ENCRYPTION: whoever sees the traffic can read it, passwords too";
}

// Every client that reaches the port may read and drop everything, so the operator must hear of it.
void WarnIfExposed(Draft& draft) {
  const bool logs_in = draft.options->sasl || !draft.options->auth_path.empty();
  for (const ListenAt& where : draft.options->tcp) {
    const bool sealed = where.tls != net::TlsMode::kNone;
    const bool asks = logs_in || AsksForCertificate(*draft.options, where.tls);
    if (asks && sealed) continue;
    Result<std::vector<net::SocketAddress>> addresses = net::ResolveForListening(where);
    if (!addresses) continue;  // the server will say why
    for (const net::SocketAddress& address : *addresses) {
      if (IsLoopback(address)) continue;
      draft.parsed->warnings.push_back("EXPOSED: -l " + draft.options->listen_text +
                                       " listens beyond this machine, WITHOUT " +
                                       WhatIsExposed(asks, sealed));
      return;
    }
  }
}

Status CheckTogether(Draft& draft) {
  const ServerOptions& options = *draft.options;
  if (options.item_bytes_max < 1024) {
    return BadUsage("-I: Item max size cannot be less than 1024 bytes.");
  }
  if (options.item_bytes_max > options.memory_bytes / 2) {
    return BadUsage("-I, -m: Cannot set item size limit higher than 1/2 of memory max.");
  }
  if (options.memory_path.empty() && options.memory_on_disk)
    return BadUsage("--memory-file-on-disk needs -e");
  if (options.data_dir.empty() && !draft.steers_data.empty()) {
    return BadUsage(draft.steers_data + " needs --data");
  }
  if (!options.data_dir.empty() && !options.evict) {
    return BadUsage("-M cannot be used with --data: items that do not fit in memory are on disk");
  }
  if (options.index_policy == IndexPolicy::kSetAssociative && !options.evict) {
    return BadUsage(
        "-M cannot be used with --index set-associative: this index drops items when a bucket "
        "is full");
  }
  const bool has_one_stage = options.plan && options.plan->stages().size() == 1;
  if (!options.data_dir.empty() && options.plan && !has_one_stage) {
    return BadUsage(
        "--data cannot be used with a --plan of several stages: it runs queries in one stage");
  }
  if (!options.devices.empty() && has_one_stage) {
    draft.NoEffect("--device", "the --plan given has one stage, on the CPU");
  }
  if (!options.devices.empty() && !options.data_dir.empty()) {
    draft.NoEffect("--device", "with a durable store queries run in one stage on the CPU");
  }
  if (!draft.steers_planner.empty() && (options.plan || options.devices.empty())) {
    draft.NoEffect(draft.steers_planner, "a plan is chosen only with --device and --plan auto");
  }
  if (options.item_bytes_max > kGiB) {
    return BadUsage("-I: Cannot set item size limit higher than a gigabyte.");
  }
  constexpr uint32_t kThreadsMax = 512;  // each needs a session of the store's 1024
  if (options.threads > kThreadsMax) {
    return BadUsage("-t: Number of threads must not be greater than " +
                    std::to_string(kThreadsMax));
  }
  if (options.threads > 64) {
    draft.parsed->warnings.push_back(
        "a high number of threads is not recommended: set -t to at most the number of cores");
  }
  if (options.unused.napi_ids > options.threads) {
    return BadUsage("-N: Number of napi_ids(" + std::to_string(options.unused.napi_ids) +
                    ") cannot be greater than number of threads(" +
                    std::to_string(options.threads) + ")");
  }
  Status status = ResolveTls(draft);
  if (status.ok()) status = ResolveLogin(draft);
  if (status.ok()) status = ResolveListen(draft);
  if (status.ok()) WarnIfExposed(draft);
  return status;
}

// The values given for Flags(), row by row; CLI11 fills them.
struct Given {
  std::vector<std::vector<std::string>> values{Flags().size(), std::vector<std::string>()};
  std::vector<CLI::Option*> options = std::vector<CLI::Option*>(Flags().size());
};

void Declare(CLI::App* app, Given* given) {
  app->set_help_flag();  // -h is a row like the others
  for (size_t i = 0; i < Flags().size(); ++i) {
    const Flag& flag = Flags()[i];
    if (flag.value_name == nullptr) {
      given->options[i] = app->add_flag(flag.names)->description(flag.help);
    } else {
      given->options[i] = app->add_option(flag.names, given->values[i], flag.help)
                              ->type_name(flag.value_name)
                              ->expected(1)
                              ->take_all()
                              ->allow_extra_args(false);
    }
    given->options[i]->group(flag.group);
  }
  app->footer(ExtendedHelp);
}

// The complaint with the flag that it is about: memcached's words seldom name it.
Status Named(const Flag& flag, std::string_view value, const Status& status) {
  if (status.message().starts_with('-')) return status;
  const std::string_view names = flag.names;
  std::string text(names.substr(0, names.find(',')));
  if (!value.empty()) text.append(" ").append(value);
  return {status.code(), text.append(": ").append(status.message())};
}

Status Take(const Given& given, Draft& draft) {
  for (size_t i = 0; i < Flags().size(); ++i) {
    const bool has_value = Flags()[i].value_name != nullptr;
    const size_t times = has_value ? given.values[i].size() : given.options[i]->count();
    for (size_t j = 0; j < times; ++j) {
      const std::string_view value = has_value ? given.values[i][j] : std::string_view();
      const Status status = Flags()[i].take(draft, value);
      if (!status.ok()) return Named(Flags()[i], value, status);
    }
  }
  return {};
}

ParsedOptions Print(std::string text) {
  ParsedOptions parsed;
  parsed.action = ParsedOptions::Action::kPrint;
  parsed.text = std::move(text);
  return parsed;
}

Result<ParsedOptions> ReadServe(const CLI::App& serve, const Given& given) {
  ParsedOptions parsed;
  Draft draft{.parsed = &parsed, .options = &parsed.server};
  Status status = Take(given, draft);
  if (draft.prints) return Print(parsed.text.empty() ? serve.help() : parsed.text);
  if (status.ok()) status = CheckTogether(draft);
  if (!status.ok()) return status;
  return parsed;
}

}  // namespace

std::string VersionLine() { return "weft " + std::string(kWeftVersion); }

Result<ParsedOptions> ParseOptions(const std::vector<std::string>& words) {
  CLI::App serve("serve clients of memcached", "weft serve");
  Given given;
  Declare(&serve, &given);
  auto all = WithConfigFiles(words);
  if (!all) return all.error();
  std::vector<std::string> reversed(all->rbegin(), all->rend());  // CLI11 asks for that
  try {
    serve.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return BadUsage(error.what());
  }
  return ReadServe(serve, given);
}

}  // namespace weft::server
