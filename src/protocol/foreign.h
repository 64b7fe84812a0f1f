// protocol/foreign.h: recognizes other protocols: their clients are disconnected.
//
// A browser, or a server that was tricked into sending a request, can reach this port but speaks
// HTTP or TLS to it. If its lines were answered one by one, the body of its request would be
// carried out as commands. These checks come before any body: SECURITY.md says how far they go.
//
// Threads   pure.
// Cost      only refused input is looked at, except for the two bytes of StartsForeign.
// Source    memcached 1.6.18 hangs up at an unknown command whose last word begins with HTTP/. The
//           others are ours: RFC 9112 for HTTP, RFC 8446 for TLS records.
#pragma once

#include <string_view>

namespace weft::protocol::internal {

// Whether bytes of a client that speaks text begin a TLS record, or a packet of memcached's binary
// protocol.
inline bool StartsForeign(std::string_view input) {
  if (input.empty()) return false;
  const auto first = static_cast<unsigned char>(input[0]);
  if (first == 0x80) return true;
  return first >= 0x14 && first <= 0x18 && input.size() > 1 && input[1] == 0x03;
}

// Whether a line that is no command, or a wrong one, belongs to an HTTP request. `is_unknown`: its
// first word is no command.
bool IsHttpLine(std::string_view line, bool is_unknown);

}  // namespace weft::protocol::internal
