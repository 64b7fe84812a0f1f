#include "server/metrics_page.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/live_page.h"
#include "server/metrics.h"

namespace weft::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A client of the page; gone with this object.
class Client {
 public:
  explicit Client(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False: the other end has gone.
  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Up to the end.
  std::string Reply() {
    std::string reply;
    char buffer[4096];
    while (const ssize_t got = recv(fd_, buffer, sizeof buffer, 0)) {
      if (got < 0) break;
      reply.append(buffer, static_cast<size_t>(got));
    }
    return reply;
  }
  // The other end has neither closed nor said anything.
  bool Waits() {
    char byte;
    return recv(fd_, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  const int fd_;
};

std::string AskOverTcp(uint16_t port, std::string_view request) {
  Client client(port);
  EXPECT_TRUE(client.Send(request));
  return client.Reply();
}

// What http://127.0.0.1:port/metrics answers.
std::string Scrape(uint16_t port) {
  return AskOverTcp(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

struct Page {
  std::map<std::string, double> samples;  // "name{labels}" -> value
  std::map<std::string, std::string> types;
  std::set<std::string> helped;
};

Page ReadPage(const std::string& reply) {
  Page page;
  const size_t body = reply.find("\r\n\r\n");
  std::istringstream lines(body == reply.npos ? "" : reply.substr(body + 4));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::istringstream words(line);
    std::string first, kind, name, rest;
    if (line.starts_with("# ")) {
      words >> first >> kind >> name;
      std::getline(words >> std::ws, rest);
      if (kind == "TYPE") page.types[name] = rest;
      if (kind == "HELP" && !rest.empty()) page.helped.insert(name);
    } else if (const size_t space = line.rfind(' '); line.starts_with("weft_")) {
      page.samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
    }
  }
  return page;
}

ServerSnapshot FewFigures() {
  ServerSnapshot s;
  s.net_kind = "epoll";
  s.commands.get_hits = 42;
  s.sessions.evictions = 3;
  s.cache.items = 7;
  s.net.bytes_in = 1234;
  s.user_us = 1'500'000;
  s.pipeline.time_ns[static_cast<size_t>(pipeline::Task::kSearch)] = 2'000'000'000;
  s.pipeline.queries[static_cast<size_t>(pipeline::Task::kParse)] = 90;
  s.pipeline.batch_sizes[0] = 20;
  s.pipeline.batch_sizes[2] = 10;
  return s;
}

class Subject final : public MetricsPage::Subject {
 public:
  using Make = std::function<ServerSnapshot()>;
  explicit Subject(Make make) : make_(std::move(make)) {}
  std::optional<ServerSnapshot> Snapshot() override {
    if (!there) return {};
    return make_();
  }
  bool IsReady() override { return ready; }

  std::atomic<bool> there{true}, ready{true};

 private:
  const Make make_;
};

// A page about what a function makes.
class OpenPage {
 public:
  explicit OpenPage(Subject::Make make = FewFigures, const std::string& address = "127.0.0.1",
                    uint16_t port = 0)
      : subject(std::move(make)), page(MetricsPage::Open(With(address, port), &subject)) {}

  bool has_value() const { return page.has_value(); }
  const Status& error() const { return page.error(); }
  MetricsPage* operator->() { return page->get(); }
  OpenPage& operator*() { return *this; }

  Subject subject;

 private:
  static ServerOptions With(const std::string& address, uint16_t port) {
    ServerOptions options;
    options.metrics_address = address;
    options.metrics_port = port;
    options.metrics_hosts = {"cache.example"};
    return options;
  }

  Result<std::unique_ptr<MetricsPage>> page;
};

TEST(MetricsPage, AScrapeTellsTheSnapshot) {
  OpenPage page;
  ASSERT_TRUE(page.has_value()) << page.error().ToString();
  ASSERT_NE((*page)->port(), 0);
  const std::string reply = Scrape((*page)->port());
  ASSERT_THAT(reply, StartsWith("HTTP/1.1 200"));
  Page read = ReadPage(reply);
  EXPECT_EQ(read.samples["weft_get_hits_total"], 42);
  EXPECT_EQ(read.types["weft_get_hits_total"], "counter");
  EXPECT_EQ(read.samples["weft_evictions_total"], 3);
  EXPECT_EQ(read.samples["weft_items"], 7);
  EXPECT_EQ(read.types["weft_items"], "gauge");
  EXPECT_EQ(read.samples["weft_bytes_received_total"], 1234);
  EXPECT_EQ(read.samples["weft_processor_seconds_total{mode=\"user\"}"], 1.5);
  EXPECT_EQ(read.samples["weft_task_seconds_total{task=\"IN.search\"}"], 2);
  EXPECT_EQ(read.samples["weft_info{version=\"0.1.0\",net=\"epoll\"}"], 1);
}

TEST(MetricsPage, BatchSizesAreAHistogram) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  Page read = ReadPage(Scrape((*page)->port()));
  EXPECT_EQ(read.types["weft_batch_queries"], "histogram");
  EXPECT_EQ(read.samples["weft_batch_queries_bucket{le=\"1\"}"], 20);
  EXPECT_EQ(read.samples["weft_batch_queries_bucket{le=\"3\"}"], 20);
  EXPECT_EQ(read.samples["weft_batch_queries_bucket{le=\"7\"}"], 30);
  EXPECT_EQ(read.samples["weft_batch_queries_bucket{le=\"+Inf\"}"], 30);
  EXPECT_EQ(read.samples["weft_batch_queries_count"], 30);
  EXPECT_EQ(read.samples["weft_batch_queries_sum"], 90);
}

TEST(MetricsPage, EveryFamilyIsExplainedAndNamedOnce) {
  std::set<std::string> names;
  for (const auto& family : MetricFamilies(FewFigures())) {
    EXPECT_THAT(family.name, StartsWith("weft_"));
    EXPECT_FALSE(family.help.empty()) << family.name;
    EXPECT_TRUE(names.insert(family.name).second) << family.name << " twice";
    const bool is_total = family.name.ends_with("_total");
    EXPECT_EQ(is_total, family.type == prometheus::MetricType::Counter) << family.name;
  }
  EXPECT_GT(names.size(), 50u);
}

TEST(MetricsPage, EachScrapeAsksAnew) {
  int asked = 0;
  OpenPage page([&asked] {
    ServerSnapshot s;
    s.cache.items = static_cast<uint64_t>(++asked);
    return s;
  });
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(ReadPage(Scrape((*page)->port())).samples["weft_items"], 1);
  EXPECT_EQ(ReadPage(Scrape((*page)->port())).samples["weft_items"], 2);
}

std::string Refusal(const std::string& address, uint16_t port) {
  OpenPage page(FewFigures, address, port);
  return page.has_value() ? "none" : std::string(page.error().message());
}

TEST(MetricsPage, AnAddressInUseIsAnError) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  OpenPage second(FewFigures, "127.0.0.1", (*page)->port());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Code::kIoError);
  const std::string message(second.error().message());
  EXPECT_THAT(message, HasSubstr("metrics page on 127.0.0.1:"));
  EXPECT_THAT(message, HasSubstr("Address already in use"));
}

TEST(MetricsPage, WhatIsNoAddressHereIsAnErrorThatSaysWhy) {
  // 203.0.113.0/24 and "invalid" are nobody's.
  EXPECT_THAT(Refusal("203.0.113.7", 0), HasSubstr("Cannot assign requested address"));
  EXPECT_THAT(Refusal("a.host.that.is.invalid", 0), HasSubstr("a.host.that.is.invalid"));
  EXPECT_THAT(Refusal("[2001:db8::7]", 0), HasSubstr("metrics page on [2001:db8::7]:0: "));
  for (const char* address : {"203.0.113.7", "a.host.that.is.invalid", "[2001:db8::7]", "::::"})
    EXPECT_EQ(Refusal(address, 0).find('\n'), std::string::npos) << address;
}

TEST(MetricsPage, SilentClientsHoldUpNoScrape) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  const uint16_t port = (*page)->port();
  std::deque<Client> silent;
  for (int i = 0; i < 64; i++) silent.emplace_back(port);
  for (int i = 0; i < 16; i++)
    ASSERT_TRUE(silent.emplace_back(port).Send("GET /metrics HTTP/1.1\r\nHost: local"));
  EXPECT_THAT(Scrape(port), StartsWith("HTTP/1.1 200"));
  // It did not wait until they were gone.
  for (Client& client : silent) EXPECT_TRUE(client.Waits());
}

TEST(MetricsPage, ClientsThatReadNothingHoldUpNoScrape) {
  const auto large = [] {
    ServerSnapshot s = FewFigures();
    s.net_kind = std::string(8 << 20, 'k');  // more than sockets hold
    return s;
  };
  OpenPage page(large);
  ASSERT_TRUE(page.has_value());
  Client slow((*page)->port());
  ASSERT_TRUE(slow.Send("GET /metrics HTTP/1.1\r\n\r\n"));
  const std::string reply = Scrape((*page)->port());
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200"));
  EXPECT_GT(reply.size(), size_t{8} << 20);
  EXPECT_EQ(slow.Reply().size(), reply.size());
}

TEST(MetricsPage, TheOldestGoWhereThereAreTooMany) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  std::deque<Client> silent;
  for (size_t i = 0; i < 2 * HttpPage::kClientsMax; i++) silent.emplace_back((*page)->port());
  EXPECT_THAT(Scrape((*page)->port()), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(silent.front().Reply(), "");
  EXPECT_TRUE(silent.back().Waits());
}

TEST(MetricsPage, AnswersWhatIsNoRequestOfIt) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  const uint16_t port = (*page)->port();
  EXPECT_THAT(AskOverTcp(port, "GET /other HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(AskOverTcp(port, "GET /metrics/ HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(AskOverTcp(port, "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
              StartsWith("HTTP/1.1 405"));
  for (const char* no_request :
       {"\n\n", "\n\nGET /metrics HTTP/1.1\r\n\r\n", "stats\r\n\r\n", "GET /metrics\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n"})
    EXPECT_THAT(AskOverTcp(port, no_request), StartsWith("HTTP/1.1 400")) << no_request;
  EXPECT_THAT(AskOverTcp(port, "GET /metrics HTTP/1.1\r\nA: " +
                                   std::string(HttpPage::kHeadBytesMax, 'a') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  for (const char* request :
       {"GET /metrics?a=b HTTP/1.1\r\n\r\n", "GET http://localhost:1/metrics HTTP/1.1\n\n",
        "\r\nGET /metrics HTTP/1.1\r\n\r\n", "\nGET /metrics HTTP/1.1\n\n"})
    EXPECT_THAT(AskOverTcp(port, request), StartsWith("HTTP/1.1 200")) << request;
  const std::string head = AskOverTcp(port, "HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

// As slow clients send it.
TEST(MetricsPage, ARequestMayComeByteByByte) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  Client client((*page)->port());
  for (const char byte : std::string_view("\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    ASSERT_TRUE(client.Send({&byte, 1}));
  EXPECT_THAT(client.Reply(), StartsWith("HTTP/1.1 200"));
}

TEST(MetricsPage, IsOnlyForThoseWhoMeanIt) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  const auto asked_as = [&](const std::string& host) {
    return AskOverTcp(page->port(), "GET /live.json HTTP/1.1\r\nhOsT: " + host + " \r\n\r\n");
  };
  for (const char* host : {"localhost", "LOCALHOST:9150", "127.0.0.1", "10.1.2.3:80", "[::1]:9150",
                           "cache.example", "Cache.Example:9150"})
    EXPECT_THAT(asked_as(host), StartsWith("HTTP/1.1 200")) << host;
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "evil.example:9150", "[evil]", "[", "1.2.3", ""})
    EXPECT_THAT(asked_as(host), StartsWith("HTTP/1.1 403")) << host;
  EXPECT_THAT(AskOverTcp(page->port(), "GET http://evil.example/metrics HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
}

TEST(MetricsPage, TellsWhetherTheServerLivesAndServes) {
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  const auto status = [&](const std::string& path) {
    return AskOverTcp(page->port(), "GET " + path + " HTTP/1.1\r\n\r\n").substr(0, 12);
  };
  for (const char* path : {"/healthz", "/readyz", "/metrics", "/live.json", "/"})
    EXPECT_EQ(status(path), "HTTP/1.1 200") << path;
  page.subject.ready = false;
  EXPECT_EQ(status("/readyz"), "HTTP/1.1 503");
  EXPECT_EQ(status("/healthz"), "HTTP/1.1 200");
  EXPECT_EQ(status("/metrics"), "HTTP/1.1 200");
  page.subject.there = false;
  EXPECT_EQ(status("/metrics"), "HTTP/1.1 503");
  EXPECT_EQ(status("/live.json"), "HTTP/1.1 503");
  EXPECT_EQ(status("/healthz"), "HTTP/1.1 200");
}

TEST(MetricsPage, ThePageIsSmallAndAsksNobodyElse) {
  EXPECT_LT(kLivePage.size(), size_t{40} << 10);
  EXPECT_EQ(kLivePage.find("http:"), kLivePage.npos);
  EXPECT_EQ(kLivePage.find("https:"), kLivePage.npos);
  EXPECT_EQ(kLivePage.find(" style="), kLivePage.npos) << "the policy forbids it";
  OpenPage page;
  ASSERT_TRUE(page.has_value());
  const std::string reply = AskOverTcp(page->port(), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(reply.ends_with(kLivePage));
  EXPECT_THAT(reply, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(reply, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(reply, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  for (const char* path : {"/", "/live.json", "/metrics", "/none"})
    EXPECT_THAT(AskOverTcp(page->port(), std::string("GET ") + path + " HTTP/1.1\r\n\r\n"),
                HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"))
        << path;
}

TEST(MetricsPage, LatencyIsAHistogramAClass) {
  OpenPage page([] {
    ServerSnapshot s;
    s.latency.Of(LatencyClass::kGet)[LatencyCellOf(5000)] = 3;
    s.latency.Of(LatencyClass::kGet)[LatencyCellOf(70'000)] = 1;
    s.latency.Of(LatencyClass::kSet)[LatencyCellOf(1)] = 2;
    return s;
  });
  ASSERT_TRUE(page.has_value());
  Page read = ReadPage(Scrape(page->port()));
  const auto bucket = [&](const std::string& le) {
    return read.samples["weft_request_latency_seconds_bucket{command=\"get\",le=\"" + le + "\"}"];
  };
  EXPECT_EQ(read.types["weft_request_latency_seconds"], "histogram");
  EXPECT_EQ(bucket("4.096e-06"), 0);
  EXPECT_EQ(bucket("6.5536e-05"), 3);
  EXPECT_EQ(bucket("0.000131072"), 4);
  EXPECT_EQ(bucket("+Inf"), 4);
  EXPECT_EQ(read.samples["weft_request_latency_seconds_count{command=\"set\"}"], 2);
  EXPECT_NEAR(read.samples["weft_request_latency_seconds_sum{command=\"get\"}"], 85e-6, 3e-6);
}

}  // namespace
}  // namespace weft::server
