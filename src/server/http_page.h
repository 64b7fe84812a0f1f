// server/http_page.h: one page of text over HTTP, made anew for whoever asks.
//
// It has its own event loop (net/event_loop.h) on one thread. So a client that connects and says
// nothing, sends half a request or takes no reply keeps nobody else waiting.
//
// Bounds    kClientsMax at once: one more displaces the one that has been there longest. Each has
//           kLifeMs in all, kHeadBytesMax for its request, and one reply. All that ask in the same
//           turn get a copy of one page.
// Files     kFilesMax descriptors at most, none of them the data port's.
// Threads   Open and the destructor: one thread. The page is made on the loop's.
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

  struct Content {
    std::string_view path;  // "/metrics"
    std::string_view type;  // of media
    std::function<std::string()> make;
  };

  // Serves http://where/path, on every address that `where` stands for. Port 0: the system picks.
  // The bytes that `content` views must outlive the page.
  static Result<std::unique_ptr<HttpPage>> Open(const net::HostPort& where, Content content);
  ~HttpPage() override;
  HttpPage(const HttpPage&) = delete;
  HttpPage& operator=(const HttpPage&) = delete;

  uint16_t port() const { return listeners_.front()->address().port(); }

 private:
  struct Client {
    net::Connection* connection;
    size_t scanned_bytes = 0;  // of its request: they don't contain the end of the head
  };

  explicit HttpPage(Content content) : content_(std::move(content)) {}
  void OnOpen(net::Connection& connection) override;
  void OnClose(net::Connection& connection) override;
  void OnBatch(std::span<net::Connection* const> ready) override;
  void OnTick() override;
  void Answer(std::string_view head, std::optional<std::string>* made, net::Connection* connection);

  // Constant after Open.
  const Content content_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::unique_ptr<net::EventLoop> loop_;
  std::thread thread_;

  // For the loop's thread.
  std::list<Client> clients_;  // the oldest first
};

}  // namespace weft::server
