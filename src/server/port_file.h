// server/port_file.h: the file that tells whoever started a server which ports it got, as
// memcached's: where MEMCACHED_PORT_FILENAME names one, it holds a line for each TCP address.
//
//   TCP INET: 11211
//   TCP INET6: 11211
//
// Threads   pure functions, but for the environment.
#pragma once

#include <span>
#include <string>

#include "net/address.h"

namespace weft::server {

// What the environment names; empty: nothing.
std::string PortFileOfEnvironment();

// Its text. Empty where there is no TCP: then memcached writes no file.
std::string PortLines(std::span<const net::SocketAddress> addresses);

}  // namespace weft::server
