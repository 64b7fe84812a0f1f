// server/metrics_page.h: what the metrics port of a server shows.
//
//   /metrics    Prometheus' text: the families of server/metrics.h; with --metrics-memcached also
//               those of server/metrics_memcached.h
//   /healthz    200 while the process lives
//   /readyz     200 while clients are served; 503 before and after, as /metrics and /live.json
//   /           a page that draws what the server does (page/live.html)
//   /live.json  the numbers that it draws (server/live_json.h)
//
// All of it is read only, and holds neither keys nor values. Each answer takes a snapshot. Counters
// count from the server's start, whatever `stats reset` did.
//
// Bounds    of server/http_page.h: clients that say nothing, or take nothing, hold up no scrape.
// Browsers  run the page's own script and style alone, and nothing of other hosts; its policy names
//           them by their hashes. Names that a request may use: of server/http_page.h.
// Threads   Open and the destructor: one thread. The subject is asked on the page's own thread.
// Errors    Open: kIoError where the address cannot be listened on, kInvalidArgument where it is
//           none.
// Cost      of server/http_page.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "server/http_page.h"
#include "server/options.h"
#include "server/stats.h"
#include "weft/status.h"

namespace weft::server {

class MetricsPage {
 public:
  // The server that it is about.
  class Subject {
   public:
    virtual ~Subject() = default;
    // Nothing: it is not there yet, or not any more.
    virtual std::optional<ServerSnapshot> Snapshot() = 0;
    // Whether it serves clients.
    virtual bool IsReady() = 0;
  };

  // Serves http://address:port/ of `options`. Port 0: the system picks. `subject` must outlive it.
  static Result<std::unique_ptr<MetricsPage>> Open(const ServerOptions& options, Subject* subject);

  uint16_t port() const { return page_->port(); }

 private:
  explicit MetricsPage(std::unique_ptr<HttpPage> page) : page_(std::move(page)) {}

  const std::unique_ptr<HttpPage> page_;
};

}  // namespace weft::server
