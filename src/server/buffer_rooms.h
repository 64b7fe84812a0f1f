// server/buffer_rooms.h: how much memory a server's half requests and unsent replies may take, by
// its options: net/room.h.
//
// With the default -I and up to 1024 connections, all buffers together stay below 64 MiB besides -m
// (SECURITY.md). That includes what each connection has without asking. The smallest rooms grow by
// a thirty-second of -m, and by the needs of one request or value of the size -I allows.
//
// Threads   pure.
#pragma once

#include "net/room.h"
#include "server/options.h"

namespace weft::server {

net::Room::Options InputRoom(const ServerOptions& options);
net::Room::Options OutputRoom(const ServerOptions& options);

}  // namespace weft::server
