#include <bit>

#include "base/clock.h"
#include "server/stats_writer.h"

namespace weft::server {
namespace {

std::string Seconds(uint64_t microseconds) {
  return fmt::format("{}.{:06}", microseconds / 1'000'000, microseconds % 1'000'000);
}

void WriteProcess(const ServerSnapshot& s, StatsWriter* out) {
  out->Line("pid", s.pid);
  out->Line("uptime", s.uptime_s);
  out->Line("time", s.now_s);
  out->Line("version", kVersionText);
  out->Line("libevent", s.net_kind);  // what waits for the sockets here
  out->Line("pointer_size", 8 * sizeof(void*));
  out->Line("rusage_user", Seconds(s.user_us));
  out->Line("rusage_system", Seconds(s.system_us));
}

void WriteConnections(const ServerSnapshot& s, StatsWriter* out) {
  out->Line("max_connections", s.connections_max);
  out->Line("curr_connections", s.net.connections_open);
  out->Line("total_connections", s.net.connections_opened);
  out->Line("rejected_connections", s.connections_rejected);
  out->Line("connection_structures", s.net.connections_open);
  out->Zeros({"response_obj_oom", "response_obj_count", "response_obj_bytes", "read_buf_count"});
  out->Line("read_buf_bytes", s.net.buffer_bytes);
  out->Zeros({"read_buf_bytes_free", "read_buf_oom", "reserved_fds"});
}

void WriteCommands(const CommandTotals& c, StatsWriter* out) {
  out->Line("cmd_get", c.cmd_get);
  out->Line("cmd_set", c.cmd_set);
  out->Line("cmd_flush", c.cmd_flush);
  out->Line("cmd_touch", c.cmd_touch);
  out->Line("cmd_meta", c.cmd_meta);
  out->Line("get_hits", c.get_hits);
  out->Line("get_misses", c.get_misses);
  out->Line("get_expired", c.get_expired);
  out->Line("get_flushed", c.get_flushed);
  out->Line("delete_misses", c.delete_misses);
  out->Line("delete_hits", c.delete_hits);
  out->Line("incr_misses", c.incr_misses);
  out->Line("incr_hits", c.incr_hits);
  out->Line("decr_misses", c.decr_misses);
  out->Line("decr_hits", c.decr_hits);
  out->Line("cas_misses", c.cas_misses);
  out->Line("cas_hits", c.cas_hits);
  out->Line("cas_badval", c.cas_badval);
  out->Line("touch_hits", c.touch_hits);
  out->Line("touch_misses", c.touch_misses);
  out->Line("store_too_large", c.store_too_large);
  out->Line("store_no_memory", c.store_no_memory);
  out->Line("auth_cmds", c.auth_cmds);
  out->Line("auth_errors", c.auth_errors);
}

void WriteTraffic(const ServerSnapshot& s, bool idle_timeout, StatsWriter* out) {
  if (idle_timeout) out->Line("idle_kicks", s.net.idle_closed);
  out->Line("bytes_read", s.net.bytes_in);
  out->Line("bytes_written", s.net.bytes_out);
  out->Line("limit_maxbytes", s.limit_bytes);
  out->Line("accepting_conns", s.net.loops_not_accepting == 0 ? 1u : 0u);
  out->Line("listen_disabled_num", s.net.accept_pauses);
  out->Line("time_in_listen_disabled_us", s.net.accept_paused_us);
  out->Line("threads", s.threads);
  out->Line("conn_yields", s.conn_yields);
}

void WriteTls(const net::TlsStats& tls, bool session_cache, StatsWriter* out) {
  if (session_cache) out->Line("ssl_new_sessions", tls.sessions);
  out->Line("ssl_handshake_errors", tls.handshake_errors);
  out->Line("ssl_proto_errors", tls.protocol_errors);
  out->Line("time_since_server_cert_refresh", (base::NowNs() / 1'000'000 - tls.loaded_ms) / 1000);
}

void WriteIndex(const ServerSnapshot& s, StatsWriter* out) {
  constexpr uint64_t kSlotsPerBucket = 8;
  const uint64_t slots = s.cache.index_buckets * kSlotsPerBucket;
  out->Line("hash_power_level", slots == 0 ? 0u : static_cast<unsigned>(std::bit_width(slots) - 1));
  out->Line("hash_bytes", s.index_bytes);
  out->Line("hash_is_expanding", s.index_growing ? 1u : 0u);
}

// What memcached does at the side, and which of its lines say nothing where that is turned off.
void WriteSideWork(const UnusedSettings& given, const WatchHub::Counts& watch, StatsWriter* out) {
  if (given.slab_reassign) {
    out->Zeros({"slab_reassign_rescues", "slab_reassign_chunk_rescues",
                "slab_reassign_evictions_nomem", "slab_reassign_inline_reclaim",
                "slab_reassign_busy_items", "slab_reassign_busy_deletes", "slab_reassign_running",
                "slabs_moved"});
  }
  if (given.lru_crawler) out->Zeros({"lru_crawler_running", "lru_crawler_starts"});
  if (given.lru_maintainer) out->Zeros({"lru_maintainer_juggles"});
  out->Zeros({"malloc_fails"});
  out->Line("log_worker_dropped", watch.worker_dropped);
  out->Line("log_worker_written", watch.worker_written);
  out->Line("log_watcher_skipped", watch.watcher_skipped);
  out->Line("log_watcher_sent", watch.watcher_sent);
  out->Line("log_watchers", watch.watchers);
  out->Zeros({"unexpected_napi_ids", "round_robin_fallback"});
}

void WriteStore(const ServerSnapshot& s, bool lru_maintainer, StatsWriter* out) {
  out->Line("bytes", s.cache.object_bytes);
  out->Line("curr_items", s.cache.items);
  out->Line("total_items", s.commands.total_items);
  out->Zeros({"slab_global_page_pool"});
  out->Line("expired_unfetched", s.sessions.expired_unread);
  out->Line("evicted_unfetched", s.sessions.evicted_unread);
  if (lru_maintainer) out->Line("evicted_active", s.evicted_read());
  out->Line("evictions", s.sessions.evictions);
  out->Line("reclaimed", s.sessions.expired);
  out->Zeros({"crawler_reclaimed", "crawler_items_checked", "lrutail_reflocked"});
  if (!lru_maintainer) return;
  out->Zeros({"moves_to_cold", "moves_to_warm"});
  out->Line("moves_within_lru", s.sessions.carried);
  out->Zeros({"direct_reclaims", "lru_bumps_dropped"});
}

}  // namespace

std::string GeneralStats(const ServerSnapshot& snapshot, const ServerOptions& options) {
  StatsWriter out;
  WriteProcess(snapshot, &out);
  WriteConnections(snapshot, &out);
  WriteCommands(snapshot.commands, &out);
  WriteTraffic(snapshot, options.idle_timeout_s != 0, &out);
  WriteIndex(snapshot, &out);
  WriteSideWork(options.unused, snapshot.watch, &out);
  WriteStore(snapshot, options.unused.lru_maintainer, &out);
  const bool session_cache = options.tls && options.tls->session_cache;
  if (snapshot.tls) WriteTls(*snapshot.tls, session_cache, &out);
  return out.End();
}

}  // namespace weft::server
