#include "server/http_page.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/thread.h"

namespace weft::server {
namespace {

constexpr int kTickMs = 1000;
constexpr size_t kTakeBytesMax = 4096;

struct HttpRequest {
  std::string_view method, path;
};

// Nothing: the first line of `head` is no request's.
std::optional<HttpRequest> RequestOf(std::string_view head) {
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const size_t method_end = line.find(' ');
  const size_t target_end = line.rfind(' ');
  if (method_end == line.npos || method_end == 0 || target_end <= method_end + 1) return {};
  const std::string_view version = line.substr(target_end + 1);
  std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  if (!version.starts_with("HTTP/1.") || target.find(' ') != target.npos) return {};
  // Proxies name the server, too.
  if (target.starts_with("http://")) {
    target.remove_prefix(std::string_view("http://").size());
    const size_t path = target.find('/');
    target = path == target.npos ? "/" : target.substr(path);
  }
  return HttpRequest{line.substr(0, method_end), target.substr(0, target.find_first_of("?#"))};
}

// An empty line before the first one may be left over from another request (RFC 9112, 2.2).
size_t EmptyLineBytes(std::string_view text) {
  const size_t bytes = text.starts_with("\n") ? 1 : text.starts_with("\r\n") ? 2 : 0;
  const std::string_view rest = text.substr(bytes);
  return rest.empty() || rest.starts_with('\n') || rest.starts_with('\r') ? 0 : bytes;
}

// Where the empty line behind the header's fields ends; nothing: it is not there yet. `from`: what
// was looked at before.
std::optional<size_t> HeadEnd(std::string_view text, size_t from) {
  constexpr size_t kEndBytesMax = 4;
  size_t at = from < kEndBytesMax ? 0 : from - kEndBytesMax;
  while ((at = text.find('\n', at)) != text.npos) {
    at++;
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("\n")) return at + 1;
    if (rest.starts_with("\r\n")) return at + 2;
  }
  return {};
}

std::string HeadOf(std::string_view status, std::string_view type, size_t bytes,
                   std::string_view more = "") {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n",
      status, type, bytes, more);
}

void Refuse(std::string_view status, std::string_view more, net::Connection* connection) {
  const std::string text = fmt::format("{}\n", status);
  connection->Append(HeadOf(status, "text/plain; charset=utf-8", text.size(), more) + text);
}

}  // namespace

Result<std::unique_ptr<HttpPage>> HttpPage::Open(const net::HostPort& where, Content content) {
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  std::unique_ptr<HttpPage> page(new HttpPage(std::move(content)));
  auto listeners = net::Listener::OpenTcp(where, net::TlsMode::kNone, {});
  if (!listeners) return listeners.error();
  page->listeners_ = std::move(*listeners);
  net::LoopOptions options;
  for (const auto& listener : page->listeners_) options.listeners.push_back(listener.get());
  options.take_bytes_max = kTakeBytesMax;
  options.tick_ms = kTickMs;
  auto loop = net::EventLoop::Create(net::EventLoop::Kind::kEpoll, options, page.get());
  if (!loop) return loop.error();
  page->loop_ = std::move(*loop);
  auto thread = base::StartThread([&loop = *page->loop_] {
    base::SetThreadName("weft-http");
    if (const Status status = loop.Run(); !status.ok())
      spdlog::error("the metrics page has stopped: {}", status.message());
  });
  if (!thread) return thread.error();
  page->thread_ = std::move(*thread);
  return page;
}

HttpPage::~HttpPage() {
  if (!thread_.joinable()) return;
  loop_->Stop(0);
  thread_.join();
}

void HttpPage::OnOpen(net::Connection& connection) {
  if (clients_.size() == kClientsMax) {
    // It is closed at the end of the turn, and is nobody's until then.
    clients_.front().connection->state = nullptr;
    clients_.front().connection->CloseNow();
    clients_.pop_front();
  }
  clients_.push_back({&connection});
  connection.state = &clients_.back();
}

void HttpPage::OnClose(net::Connection& connection) {
  if (connection.state == nullptr) return;
  std::erase_if(clients_, [&](const Client& client) { return client.connection == &connection; });
}

// Each has the same time from its beginning, however slowly it takes or gives.
void HttpPage::OnTick() {
  for (const Client& client : clients_) {
    if (loop_->now_ms() - client.connection->opened_ms() < kLifeMs) break;
    client.connection->CloseNow();
  }
}

void HttpPage::OnBatch(std::span<net::Connection* const> ready) {
  std::optional<std::string> made;  // the page, once somebody has asked for it
  for (net::Connection* connection : ready) {
    auto* const client = static_cast<Client*>(connection->state);
    if (client == nullptr) {
      connection->Consume(connection->readable().size());
      continue;
    }
    connection->Consume(EmptyLineBytes(connection->readable()));
    const std::string_view text = connection->readable();
    const std::optional<size_t> end = HeadEnd(text, client->scanned_bytes);
    client->scanned_bytes = text.size();
    if (!end && text.size() <= kHeadBytesMax) continue;
    if (!end || *end > kHeadBytesMax) {
      Refuse("431 Request Header Fields Too Large", "", connection);
    } else {
      Answer(text.substr(0, *end), &made, connection);
    }
    connection->Consume(text.size());
    connection->CloseAfterFlush();
  }
}

void HttpPage::Answer(std::string_view head, std::optional<std::string>* made,
                      net::Connection* connection) {
  const std::optional<HttpRequest> request = RequestOf(head);
  if (!request) return Refuse("400 Bad Request", "", connection);
  if (request->path != content_.path) return Refuse("404 Not Found", "", connection);
  const bool is_head = request->method == "HEAD";
  if (!is_head && request->method != "GET")
    return Refuse("405 Method Not Allowed", "Allow: GET, HEAD\r\n", connection);
  if (!*made) *made = content_.make();
  connection->Append(HeadOf("200 OK", content_.type, (*made)->size()));
  if (!is_head) connection->Append(**made);
}

}  // namespace weft::server
