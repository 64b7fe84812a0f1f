#include "server/process.h"
#include "server/stats_writer.h"

namespace weft::server {
namespace {

std::string_view YesNo(bool yes) { return yes ? "yes" : "no"; }

std::string_view NameOf(protocol::Dialect dialect) {
  switch (dialect) {
    case protocol::Dialect::kAny: return "auto-negotiate";
    case protocol::Dialect::kText: return "ascii";
    case protocol::Dialect::kBinary: return "binary";
  }
  return "";
}

// What was given for a suboption of -o that has no effect here, or memcached's default. Numbers and
// texts only: a switch says what holds here, for a "yes" would promise it.
void WriteExtended(const ServerOptions& options,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> rows,
                   StatsWriter* out) {
  for (const auto& [name, otherwise] : rows) {
    const auto given = options.unused.extended.find(name);
    out->Line(name,
              given == options.unused.extended.end() ? otherwise : std::string_view(given->second));
  }
}

void WriteServing(const ServerSnapshot& s, const ServerOptions& o, StatsWriter* out) {
  out->Line("maxbytes", s.limit_bytes);
  out->Line("maxconns", s.connections_max);
  out->Line("tcpport", fmt::to_string(o.unix_path.empty() ? o.tcp_port : 0));
  out->Line("udpport", 0u);
  out->Line("inter", o.listen_text);
  out->Line("verbosity", static_cast<unsigned>(s.verbosity));
  out->Line("oldest", 0u);
  out->Line("evictions", o.evict ? "on" : "off");
  out->Line("domain_socket", o.unix_path.empty() ? "NULL" : std::string_view(o.unix_path));
  out->Line("umask", fmt::format("{:o}", o.unix_mask));
  out->Line("shutdown_command", YesNo(o.allow_shutdown));
  out->Line("growth_factor", o.unused.growth_factor);
  out->Line("chunk_size", o.unused.chunk_bytes);
  out->Line("num_threads", o.threads);
  out->Line("num_threads_per_udp", o.threads);
  out->Line("stat_key_prefix", std::string_view(&o.prefix_delimiter, 1));
  out->Line("detail_enabled", YesNo(s.detail_enabled));
  out->Line("reqs_per_event", o.unused.requests_per_event);
  out->Line("cas_enabled", YesNo(!o.unused.disable_cas));
  out->Line("tcp_backlog", fmt::to_string(o.backlog));
  out->Line("binding_protocol", NameOf(o.dialect));
  out->Line("auth_enabled_sasl", YesNo(o.sasl));
  out->Line("auth_enabled_ascii", o.auth_path.empty() || o.sasl ? "no" : o.auth_path);
  out->Line("item_size_max", o.item_bytes_max);
  out->Line("maxconns_fast", "yes");
}

void WriteMemory(const ServerOptions& o, StatsWriter* out) {
  WriteExtended(o, {{"hashpower_init", "0"}}, out);
  out->Line("slab_reassign", "no");
  out->Line("slab_automove", "0");
  WriteExtended(o,
                {{"slab_automove_ratio", "0.80"},
                 {"slab_automove_window", "30"},
                 {"slab_chunk_max", "524288"}},
                out);
  out->Line("lru_crawler", "no");
  WriteExtended(
      o, {{"lru_crawler_sleep", "100"}, {"lru_crawler_tocrawl", "0"}, {"tail_repair_time", "0"}},
      out);
  out->Line("flush_enabled", YesNo(o.allow_flush_all));
  out->Line("dump_enabled", YesNo(o.allow_dump));
  out->Line("hash_algorithm", "keyed");  // none of memcached's, nor has it a name
  out->Line("lru_maintainer_thread", "no");
  out->Line("lru_segmented", "no");
  WriteExtended(o,
                {{"hot_lru_pct", "20"},
                 {"warm_lru_pct", "40"},
                 {"hot_max_factor", "0.20"},
                 {"warm_max_factor", "2.00"}},
                out);
  out->Line("temp_lru", "no");
  WriteExtended(o, {{"temporary_ttl", "61"}}, out);
  out->Line("idle_timeout", o.idle_timeout_s);
  WriteExtended(o,
                {{"watcher_logbuf_size", "262144"},
                 {"worker_logbuf_size", "65536"},
                 {"read_buf_mem_limit", "0"}},
                out);
  out->Line("track_sizes", YesNo(o.track_sizes));
  out->Line("inline_ascii_response", "no");
}

void WriteStorageAndTls(const ServerOptions& o, StatsWriter* out) {
  WriteExtended(o,
                {{"ext_item_size", "512"},
                 {"ext_item_age", "4294967295"},
                 {"ext_low_ttl", "0"},
                 {"ext_recache_rate", "2000"},
                 {"ext_wbuf_size", "4194304"},
                 {"ext_compact_under", "0"},
                 {"ext_drop_under", "0"},
                 {"ext_max_sleep", "1000000"},
                 {"ext_max_frag", "0.80"},
                 {"slab_automove_freeratio", "0.010"}},
                out);
  out->Line("ext_drop_unread", "no");
  out->Line("ssl_enabled", YesNo(o.tls.has_value()));
  WriteExtended(o,
                {{"ssl_chain_cert", "(null)"},
                 {"ssl_key", "(null)"},
                 {"ssl_verify_mode", "0"},
                 {"ssl_keyformat", "1"},
                 {"ssl_ciphers", "NULL"},
                 {"ssl_ca_cert", "NULL"},
                 {"ssl_wbuf_size", "16384"}},
                out);
  WriteExtended(o, {{"ssl_session_cache", "no"}}, out);
  out->Line("ssl_kernel_tls", "no");
  WriteExtended(o, {{"ssl_min_version", "tlsv1.2"}}, out);
  out->Line("num_napi_ids", o.unused.napi_ids == 0 ? "(null)" : fmt::to_string(o.unused.napi_ids));
  out->Line("memory_file", o.memory_path.empty() ? "(null)" : OneLine(o.memory_path));
}

}  // namespace

std::string SettingsStats(const ServerSnapshot& snapshot, const ServerOptions& options) {
  StatsWriter out;
  WriteServing(snapshot, options, &out);
  WriteMemory(options, &out);
  WriteStorageAndTls(options, &out);
  return out.End();
}

}  // namespace weft::server
