// Threads   one.
#include "tool/top/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

namespace weft::tool {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Sample At(uint64_t seconds, uint64_t requests) {
  Sample s;
  s.at_ns = seconds * 1'000'000'000;
  const std::string count = std::to_string(requests);
  s.general = {{"pid", "7"},           {"uptime", std::to_string(seconds)},
               {"threads", "4"},       {"version", "1.6.18"},
               {"cmd_get", count},     {"get_hits", std::to_string(requests * 3 / 4)},
               {"cmd_set", "5"},       {"get_misses", std::to_string(requests - requests * 3 / 4)},
               {"bytes", "3145728"},   {"limit_maxbytes", "67108864"},
               {"curr_items", "1500"}, {"curr_connections", "3"},
               {"evictions", count},   {"max_connections", "1024"}};
  s.pipeline = {{"weft_version", "0.1.0"},
                {"plan", "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [WR SD]cpu"},
                {"plan:changes", "1"},
                {"plan:change:1", "12 s ago, from [A]cpu to [B]cpu: get share 0.62 -> 0.91"},
                {"PP:time_ns", std::to_string(requests * 100)},
                {"PP:queries", count},
                {"WR:time_ns", std::to_string(requests * 300)},
                {"WR:queries", count},
                {"gpu0:name", "opencl:0"},
                {"gpu0:state", "in use"},
                {"gpu0:queries", count},
                {"gpu0:failures", "0"},
                {"queries", count},
                {"batches", std::to_string(requests / 10)}};
  s.latency = {{"all:ns:20000-20999", std::to_string(requests * 99 / 100)},
               {"all:ns:900000-999999", std::to_string(requests - requests * 99 / 100)},
               {"get:ns:20000-20999", count}};
  return s;
}

View Busy() {
  View view;
  view.address = "cache:11211";
  view.sample = At(12, 30'000);
  view.activity = ActivityBetween(At(10, 10'000), view.sample);
  return view;
}

TEST(Activities, AreDifferencesByTheSecond) {
  const View view = Busy();
  const Activity& a = *view.activity;
  EXPECT_DOUBLE_EQ(a.seconds, 2);
  EXPECT_DOUBLE_EQ(a.RateOf("cmd_get"), 10'000);
  EXPECT_DOUBLE_EQ(a.requests_per_s, 10'000);
  EXPECT_DOUBLE_EQ(a.hit_percent, 75);
  EXPECT_DOUBLE_EQ(a.batch_queries, 10);
  ASSERT_EQ(a.tasks.size(), 2u);
  EXPECT_DOUBLE_EQ(a.tasks[0].share, 0.25);
  EXPECT_DOUBLE_EQ(a.tasks[1].ns_per_query, 300);
  const Percentiles& all = a.latency.at("all");
  EXPECT_EQ(all.requests, 20'000u);
  EXPECT_DOUBLE_EQ(all.p50_ns, 20'499.5);
  EXPECT_DOUBLE_EQ(all.p999_ns, 949'999.5);
}

TEST(Activities, StartAnewWithTheServer) {
  EXPECT_TRUE(IsSameRun(At(10, 1), At(11, 2)));
  EXPECT_FALSE(IsSameRun(At(10, 1), At(2, 2)));
  Sample other = At(11, 2);
  other.general["pid"] = "8";
  EXPECT_FALSE(IsSameRun(At(10, 1), other));
  // `stats reset` makes counters fall, and no rate is below 0.
  EXPECT_DOUBLE_EQ(ActivityBetween(At(10, 9), At(11, 2)).RateOf("cmd_get"), 0);
}

TEST(Screens, ShowWhatHappened) {
  const std::vector<std::string> lines = ScreenLines(Busy(), 0);
  EXPECT_THAT(lines[0], HasSubstr("cache:11211  up 12 s  weft 0.1.0  4 threads"));
  EXPECT_THAT(lines[1], HasSubstr("10 k/s  hit 75 %  p50 20.5 us  p99 20.5 us  p99.9 950 us"));
  EXPECT_THAT(lines[1], HasSubstr("mem 3 MiB of 64 MiB  conns 3 of 1024  evict 10 k/s"));
  EXPECT_THAT(lines, Contains(HasSubstr("]gpu0 -> [WR SD]cpu  1 change  last: 12 s ago")));
  EXPECT_THAT(lines, Contains(HasSubstr("opencl:0  in use  10 k/s queries  0 failures")));
  EXPECT_THAT(lines, Contains(HasSubstr("WR          ###############-----    75 %    300 ns a")));
}

std::string Letters(const std::vector<std::string>& lines) {
  std::string letters;
  for (const std::string& line : lines)
    for (const char c : line)
      if (c != ' ') letters += c;
  return letters;
}

TEST(Screens, CutNothingHoweverNarrow) {
  const std::string all = Letters(ScreenLines(Busy(), 0));
  for (size_t columns = 18; columns < 140; columns++) {
    const std::vector<std::string> lines = ScreenLines(Busy(), columns);
    for (const std::string& line : lines) EXPECT_LE(line.size(), columns) << line;
    EXPECT_EQ(Letters(lines), all) << columns;
  }
}

TEST(Screens, SayHowManyRowsAreMissing) {
  const std::vector<std::string> lines = {"a", "b", "c", "d"};
  EXPECT_EQ(FitRows(lines, 4, 80), lines);
  EXPECT_EQ(FitRows(lines, 3, 80),
            (std::vector<std::string>{"a", "b", "... 2 more lines: enlarge the window"}));
  EXPECT_EQ(FitRows(lines, 2, 10), (std::vector<std::string>{"a", "+3 lines"}));
}

TEST(Screens, OfAnotherServerLeaveOutWhatItLacks) {
  View view = Busy();
  for (Sample* sample : {&view.sample}) sample->pipeline.clear(), sample->latency.clear();
  Sample before = At(10, 10'000);
  before.pipeline.clear();
  before.latency.clear();
  view.activity = ActivityBetween(before, view.sample);
  const std::vector<std::string> lines = ScreenLines(view, 100);
  EXPECT_THAT(lines[0], HasSubstr("memcached 1.6.18"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(StartsWith("plan")));
  EXPECT_THAT(LogLine(view), Not(HasSubstr("p50")));
  EXPECT_THAT(JsonLine(view), HasSubstr("\"server\":\"memcached\""));
}

TEST(Screens, SayWhatIsWrong) {
  View view = Busy();
  view.activity.reset();
  view.trouble = "it closed the connection; trying again";
  EXPECT_THAT(ScreenLines(view, 100)[1], StartsWith("TROUBLE     it closed"));
  EXPECT_EQ(LogLine(view), "cache:11211  it closed the connection; trying again");
  EXPECT_THAT(JsonLine(view), HasSubstr("\"trouble\":\"it closed"));
}

}  // namespace
}  // namespace weft::tool
