#include "server/metrics.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::server {
namespace {

using ::testing::HasSubstr;
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

TEST(MetricsPage, AScrapeTellsTheSnapshot) {
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
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
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
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
  auto page = MetricsPage::Open("127.0.0.1", 0, [&asked] {
    ServerSnapshot s;
    s.cache.items = static_cast<uint64_t>(++asked);
    return s;
  });
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(ReadPage(Scrape((*page)->port())).samples["weft_items"], 1);
  EXPECT_EQ(ReadPage(Scrape((*page)->port())).samples["weft_items"], 2);
}

std::string Refusal(const std::string& address, uint16_t port) {
  auto page = MetricsPage::Open(address, port, FewFigures);
  return page.has_value() ? "none" : std::string(page.error().message());
}

TEST(MetricsPage, AnAddressInUseIsAnError) {
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
  ASSERT_TRUE(page.has_value());
  auto second = MetricsPage::Open("127.0.0.1", (*page)->port(), FewFigures);
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
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
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
  auto page = MetricsPage::Open("127.0.0.1", 0, large);
  ASSERT_TRUE(page.has_value());
  Client slow((*page)->port());
  ASSERT_TRUE(slow.Send("GET /metrics HTTP/1.1\r\n\r\n"));
  const std::string reply = Scrape((*page)->port());
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200"));
  EXPECT_GT(reply.size(), size_t{8} << 20);
  EXPECT_EQ(slow.Reply().size(), reply.size());
}

TEST(MetricsPage, TheOldestGoWhereThereAreTooMany) {
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
  ASSERT_TRUE(page.has_value());
  std::deque<Client> silent;
  for (size_t i = 0; i < 2 * HttpPage::kClientsMax; i++) silent.emplace_back((*page)->port());
  EXPECT_THAT(Scrape((*page)->port()), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(silent.front().Reply(), "");
  EXPECT_TRUE(silent.back().Waits());
}

TEST(MetricsPage, AnswersWhatIsNoRequestOfIt) {
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
  ASSERT_TRUE(page.has_value());
  const uint16_t port = (*page)->port();
  EXPECT_THAT(AskOverTcp(port, "GET /other HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(AskOverTcp(port, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404"));
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
       {"GET /metrics?a=b HTTP/1.1\r\n\r\n", "GET http://me:1/metrics HTTP/1.1\n\n",
        "\r\nGET /metrics HTTP/1.1\r\n\r\n", "\nGET /metrics HTTP/1.1\n\n"})
    EXPECT_THAT(AskOverTcp(port, request), StartsWith("HTTP/1.1 200")) << request;
  const std::string head = AskOverTcp(port, "HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

// As slow clients send it.
TEST(MetricsPage, ARequestMayComeByteByByte) {
  auto page = MetricsPage::Open("127.0.0.1", 0, FewFigures);
  ASSERT_TRUE(page.has_value());
  Client client((*page)->port());
  for (const char byte : std::string_view("\r\nGET /metrics HTTP/1.1\r\nHost: me\r\n\r\n"))
    ASSERT_TRUE(client.Send({&byte, 1}));
  EXPECT_THAT(client.Reply(), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace weft::server
