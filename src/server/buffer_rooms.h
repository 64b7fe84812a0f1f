// server/buffer_rooms.h: how much memory a server's half requests and unsent replies may take, for
// its options: net/room.h.
//
// With the default -I and up to 1024 connections all buffers together, what each connection has
// without asking included, stay below 64 MiB beside what -m holds (SECURITY.md); a thirty-second of
// -m comes on top of the smallest rooms, and what one request or value of the size -I allows needs.
//
// Threads   pure.
#pragma once

#include "net/room.h"
#include "server/options.h"

namespace weft::server {

net::Room::Options InputRoom(const ServerOptions& options);
net::Room::Options OutputRoom(const ServerOptions& options);

}  // namespace weft::server
