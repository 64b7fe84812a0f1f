#include <algorithm>

#include "server/stats_writer.h"

namespace weft::server {
namespace {

// "tcp:127.0.0.1:11211", "tcp6:[::1]:11211", "unix:/run/weft.sock".
std::string AddressText(net::Transport transport, std::string_view address) {
  if (transport == net::Transport::kUnix) return fmt::format("unix:{}", address);
  return fmt::format("{}:{}", address.starts_with('[') ? "tcp6" : "tcp", address);
}

std::string_view StateOf(const net::ConnectionInfo& connection) {
  if (connection.in_batch) return "conn_parse_cmd";
  if (connection.pending_output_bytes > 0) return "conn_mwrite";
  return connection.awaits_rest ? "conn_nread" : "conn_read";
}

}  // namespace

std::string ConnsStats(const ServerSnapshot& s) {
  StatsWriter out;
  for (const ListenerInfo& listener : s.listeners) {
    out.Line(fmt::format("{}:addr", listener.fd),
             AddressText(listener.transport, listener.address));
    out.Line(fmt::format("{}:state", listener.fd), "conn_listening");
    out.Line(fmt::format("{}:secs_since_last_cmd", listener.fd), s.uptime_s);
  }
  for (const net::ConnectionInfo& connection : s.connections) {
    out.Line(fmt::format("{}:addr", connection.fd),
             AddressText(connection.transport, connection.peer));
    if (connection.listener_index < s.listeners.size()) {
      const ListenerInfo& listener = s.listeners[connection.listener_index];
      out.Line(fmt::format("{}:listen_addr", connection.fd),
               AddressText(listener.transport, listener.address));
    }
    const bool watches =
        std::find(s.watching.begin(), s.watching.end(), connection.id) != s.watching.end();
    out.Line(fmt::format("{}:state", connection.fd), watches ? "conn_watch" : StateOf(connection));
    out.Line(fmt::format("{}:secs_since_last_cmd", connection.fd), connection.idle_ms / 1000);
  }
  return out.End();
}

}  // namespace weft::server
