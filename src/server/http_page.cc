#include "server/http_page.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <iterator>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/thread.h"

namespace weft::server {
namespace {

constexpr int kTickMs = 1000;
constexpr size_t kTakeBytesMax = 4096;

bool AreAlike(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// The value of a field of the header; nothing: it is not there. Names are as in `head`, in any
// case.
std::optional<std::string_view> FieldOf(std::string_view head, std::string_view name) {
  for (size_t end; (end = head.find('\n')) != head.npos;) {
    head.remove_prefix(end + 1);
    const std::string_view line = head.substr(0, head.find('\n'));
    const size_t colon = line.find(':');
    if (colon != name.size() || !AreAlike(line.substr(0, colon), name)) continue;
    return Trimmed(line.substr(colon + 1));
  }
  return {};
}

// Without the port: "[::1]:80" is "::1".
std::string_view HostOf(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool IsNumber(const std::string& host) {
  char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

struct HttpRequest {
  std::string_view method, path;
  std::optional<std::string_view> host;  // as named
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
  std::optional<std::string_view> host = FieldOf(head, "host");
  // Proxies name the server, too.
  if (target.starts_with("http://")) {
    target.remove_prefix(std::string_view("http://").size());
    const size_t path = target.find('/');
    host = target.substr(0, path);
    target = path == target.npos ? "/" : target.substr(path);
  }
  return HttpRequest{line.substr(0, method_end), target.substr(0, target.find_first_of("?#")),
                     host};
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

}  // namespace

HttpPage::HttpPage(Site site)
    : site_([&site] {
        char name[HOST_NAME_MAX + 1] = {};
        site.names.emplace_back("localhost");
        if (gethostname(name, HOST_NAME_MAX) == 0 && name[0] != 0) site.names.emplace_back(name);
        return std::move(site);
      }()) {}

Result<std::unique_ptr<HttpPage>> HttpPage::Open(const net::HostPort& where, Site site) {
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  std::unique_ptr<HttpPage> page(new HttpPage(std::move(site)));
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
  Made made(site_.pages.size());
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
      Reply(text.substr(0, *end), &made, connection);
    }
    connection->Consume(text.size());
    connection->CloseAfterFlush();
  }
}

bool HttpPage::IsMeant(std::string_view host) const {
  const std::string_view name = HostOf(host);
  if (std::ranges::any_of(site_.names, [&](const auto& each) { return AreAlike(each, name); }))
    return true;
  return IsNumber(std::string(name));
}

void HttpPage::Reply(std::string_view head, Made* made, net::Connection* connection) {
  const std::optional<HttpRequest> request = RequestOf(head);
  if (!request) return Refuse("400 Bad Request", "", connection);
  if (request->host && !IsMeant(*request->host))
    return Refuse("403 Forbidden: this server does not go by that name", "", connection);
  const auto page = std::ranges::find(site_.pages, request->path, &Page::path);
  if (page == site_.pages.end()) return Refuse("404 Not Found", "", connection);
  const bool is_head = request->method == "HEAD";
  if (!is_head && request->method != "GET")
    return Refuse("405 Method Not Allowed", "Allow: GET, HEAD\r\n", connection);
  std::optional<Answer>& answer = (*made)[static_cast<size_t>(page - site_.pages.begin())];
  if (!answer) answer = page->make();
  Send(*answer, page->type, !is_head, connection);
}

void HttpPage::Send(const Answer& answer, std::string_view type, bool with_body,
                    net::Connection* connection) {
  connection->Append(fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n",
      answer.status, type, answer.body.size(), site_.fields));
  if (with_body) connection->Append(answer.body);
}

void HttpPage::Refuse(std::string_view status, std::string_view more, net::Connection* connection) {
  const std::string text = fmt::format("{}\n", status);
  connection->Append(
      fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                  "Content-Length: {}\r\n{}{}Connection: close\r\n\r\n{}",
                  status, text.size(), more, site_.fields, text));
}

}  // namespace weft::server
