// server/metrics.h: a page of Prometheus metrics on a port of its own.
//
// Each scrape takes a snapshot and turns it into families named weft_*. Counters count from the
// server's start, whatever `stats reset` did.
//
// Threads   Open and the destructor: one thread. `snapshot` is called on the page's own threads.
// Errors    Open: kIoError where the address cannot be listened on.
// Cost      nothing between scrapes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "net/address.h"
#include "server/stats.h"
#include "weft/status.h"

namespace prometheus {
class Exposer;
}

namespace weft::server {

// The families of one snapshot.
std::vector<prometheus::MetricFamily> MetricFamilies(ServerSnapshot snapshot);

class MetricsPage {
 public:
  using Source = std::function<ServerSnapshot()>;

  // Serves http://address:port/metrics. Port 0: the system picks. `source` must outlive the page.
  static Result<std::unique_ptr<MetricsPage>> Open(const std::string& address, uint16_t port,
                                                   Source source);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  uint16_t port() const { return port_; }

 private:
  class Scrape;
  MetricsPage() = default;

  // Constant after Open. The exposer goes first: it calls the other.
  net::HostPort where_;
  std::shared_ptr<Scrape> scrape_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  uint16_t port_ = 0;
};

}  // namespace weft::server
