// server/live_json.h: the numbers of the page of the metrics port, as JSON.
//
// Counters and levels of one snapshot, without keys, values or addresses. Whoever asks twice makes
// rates and percentiles of the differences. Times are in nanoseconds or as the name says.
//
// Threads   a pure function.
// Cost      about as much as a scrape; 10 KiB of text.
#pragma once

#include <string>

#include "server/stats.h"

namespace weft::server {

std::string LiveJson(const ServerSnapshot& snapshot);

}  // namespace weft::server
