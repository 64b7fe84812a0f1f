// server/metrics.h: Prometheus' families of a snapshot, named weft_*.
//
// Threads   a pure function.
// Cost      tens of microseconds.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "server/stats.h"

namespace weft::server {

std::vector<prometheus::MetricFamily> MetricFamilies(ServerSnapshot snapshot);

}  // namespace weft::server
