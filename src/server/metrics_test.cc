#include "server/metrics.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What http://127.0.0.1:port/metrics answers.
std::string Scrape(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string_view request =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string reply;
  char buffer[4096];
  while (const ssize_t got = recv(fd, buffer, sizeof buffer, 0)) {
    if (got < 0) break;
    reply.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
  return reply;
}

struct Page {
  std::map<std::string, double> samples;   // "name{labels}" -> value
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

ServerSnapshot Example() {
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
  auto page = MetricsPage::Open("127.0.0.1", 0, Example);
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
  auto page = MetricsPage::Open("127.0.0.1", 0, Example);
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
  for (const auto& family : MetricFamilies(Example())) {
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

TEST(MetricsPage, AnAddressInUseIsAnError) {
  auto page = MetricsPage::Open("127.0.0.1", 0, Example);
  ASSERT_TRUE(page.has_value());
  auto second = MetricsPage::Open("127.0.0.1", (*page)->port(), Example);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Code::kIoError);
  EXPECT_THAT(std::string(second.error().message()), HasSubstr("metrics page on 127.0.0.1:"));
}

}  // namespace
}  // namespace weft::server
