// server/metrics.h: a page of Prometheus metrics on a port of its own.
//
// Each scrape takes a snapshot and turns it into families named weft_*. Counters count from the
// server's start, whatever `stats reset` did.
//
// Bounds    of server/http_page.h: clients that say nothing, or take nothing, hold up no scrape.
// Threads   Open and the destructor: one thread. `source` is called on the page's own thread.
// Errors    Open: kIoError where the address cannot be listened on, kInvalidArgument where it is
//           none.
// Cost      of server/http_page.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "server/http_page.h"
#include "server/stats.h"
#include "weft/status.h"

namespace weft::server {

// The families of one snapshot.
std::vector<prometheus::MetricFamily> MetricFamilies(ServerSnapshot snapshot);

class MetricsPage {
 public:
  using Source = std::function<ServerSnapshot()>;

  // Serves http://address:port/metrics. Port 0: the system picks. What `source` uses must outlive
  // the page.
  static Result<std::unique_ptr<MetricsPage>> Open(const std::string& address, uint16_t port,
                                                   Source source);

  uint16_t port() const { return page_->port(); }

 private:
  explicit MetricsPage(std::unique_ptr<HttpPage> page) : page_(std::move(page)) {}

  const std::unique_ptr<HttpPage> page_;
};

}  // namespace weft::server
