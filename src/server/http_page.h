// server/http_page.h: some pages of text over HTTP, made anew for whoever asks.
//
// It has its own event loop (net/event_loop.h) on one thread. So a client that connects and says
// nothing, sends half a request or takes no reply keeps nobody else waiting.
//
// Bounds    kClientsMax at once: one more displaces the one that has been there longest. Each has
//           kLifeMs in all, kHeadBytesMax for its request, and one reply. All that ask for a page
//           in the same turn get a copy of one.
// Names     a request says by `Host` whom it means. A browser that a page of others has led here
//           says the name of that page's host, whatever address that name stands for. So names must
//           be those of Site::names, this machine's or a number: others get 403. A client that says
//           none is no browser.
// Files     kFilesMax descriptors at most, none of them the data port's.
// Threads   Open and the destructor: one thread. Pages are made on the loop's.
// Errors    Open: kInvalidArgument if `where` is no address; kIoError if it can't be listened on,
//           or there is no thread. A wrong request gets an error reply.
// Cost      a wake-up a second; nothing else between requests.
// Source    RFC 9112.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "weft/status.h"

namespace weft::server {

class HttpPage final : private net::Handler {
 public:
  static constexpr size_t kClientsMax = 128;
  static constexpr uint64_t kLifeMs = 10'000;
  static constexpr size_t kHeadBytesMax = 16 << 10;
  // The loop may accept this many before it closes the first of those that must go.
  static constexpr uint64_t kFilesMax = kClientsMax + 64 + 16;

  struct Answer {
    std::string body;
    std::string_view status = "200 OK";
  };
  struct Page {
    std::string_view path;  // "/metrics"
    std::string_view type;  // of media
    std::function<Answer()> make;
  };
  struct Site {
    std::vector<Page> pages;
    std::vector<std::string> names;  // that the server goes by, besides localhost and its host's
    std::string fields;              // of every answer's header, each with its line end
  };

  // Serves http://where/, on every address that `where` stands for. Port 0: the system picks. The
  // bytes that `site` views must outlive the page.
  static Result<std::unique_ptr<HttpPage>> Open(const net::HostPort& where, Site site);
  ~HttpPage() override;
  HttpPage(const HttpPage&) = delete;
  HttpPage& operator=(const HttpPage&) = delete;

  uint16_t port() const { return listeners_.front()->address().port(); }

 private:
  struct Client {
    net::Connection* connection;
    size_t scanned_bytes = 0;  // of its request: they don't contain the end of the head
  };

  // What was made of each page in a turn.
  using Made = std::vector<std::optional<Answer>>;

  explicit HttpPage(Site site);
  void OnOpen(net::Connection& connection) override;
  void OnClose(net::Connection& connection) override;
  void OnBatch(std::span<net::Connection* const> ready) override;
  void OnTick() override;
  void Reply(std::string_view head, Made* made, net::Connection* connection);
  bool IsMeant(std::string_view host) const;
  void Send(const Answer& answer, std::string_view type, bool with_body,
            net::Connection* connection);
  void Refuse(std::string_view status, std::string_view more, net::Connection* connection);

  // Constant after Open.
  const Site site_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::unique_ptr<net::EventLoop> loop_;
  std::thread thread_;

  // For the loop's thread.
  std::list<Client> clients_;  // the oldest first
};

}  // namespace weft::server
