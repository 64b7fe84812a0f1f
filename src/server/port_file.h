// server/port_file.h: the file that gives a server's ports to whoever started it, as in memcached:
// if MEMCACHED_PORT_FILENAME names one, it holds a line for each TCP address.
//
//   TCP INET: 11211
//   TCP INET6: 11211
//
// Threads   pure functions, except for the environment.
#pragma once

#include <span>
#include <string>

#include "net/address.h"

namespace weft::server {

// The file that the environment names; empty: none.
std::string PortFileOfEnvironment();

// Its text. Empty if there is no TCP: then memcached writes no file.
std::string PortLines(std::span<const net::SocketAddress> addresses);

}  // namespace weft::server
