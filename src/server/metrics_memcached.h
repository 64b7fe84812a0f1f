// server/metrics_memcached.h: the families of Prometheus' memcached_exporter, for boards and alerts
// that were made for it.
//
// Names, types and labels are those of its release 0.17. Values are those of `stats`, `stats
// slabs`, `stats items` and `stats settings`, as the exporter reads them, but count from the
// server's start, whatever `stats reset` did. As there, a line that a report lacks has no series.
//
// Threads   a pure function.
// Cost      four reports, some tens of microseconds.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "server/options.h"
#include "server/stats.h"

namespace weft::server {

std::vector<prometheus::MetricFamily> MemcachedFamilies(const ServerSnapshot& snapshot,
                                                        const ServerOptions& options);

}  // namespace weft::server
