// What the conversations with memcached cannot show: limits, sizes asked for, the switches a
// command carries, and the flags that are newer than 1.6.18.
#include "protocol/parse.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace weft::protocol {
namespace {

constexpr uint32_t kNow = 1'700'000'000;
constexpr uint32_t kStart = kNow - 1000;
constexpr size_t kDay = 60 * 60 * 24;

class ParseTest : public testing::Test {
 protected:
  ParseTest() {
    context_.now_s = kNow;
    context_.start_s = kStart;
    context_.scratch = scratch_;
  }

  ParseResult Parse(std::string_view input) {
    input_ = input;
    return protocol::Parse(input_, context_, &request_);
  }

  // Whether input is answered with the reason, and the connection ends.
  bool IsRefusedAsTooLong(std::string_view input) {
    return Parse(input).status == ParseStatus::kRequest && request_.close &&
           request_.text == "CLIENT_ERROR line too long\r\n";
  }

  // Parses input that is one whole request.
  const cache::Command& ParseWhole(std::string_view input) {
    const ParseResult result = Parse(input);
    EXPECT_EQ(result.status, ParseStatus::kRequest) << input;
    EXPECT_EQ(result.consumed_bytes, input.size()) << input;
    return request_.command;
  }

  ParseContext context_;
  Request request_;
  std::string input_;
  char scratch_[kScratchBytes];
};

TEST_F(ParseTest, ReadGivesFirstKeyAndTheRest) {
  const cache::Command& command = ParseWhole("gets first second  third\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kRead);
  EXPECT_EQ(command.verb, cache::Verb::kRead);
  EXPECT_TRUE(command.want_cas);
  EXPECT_FALSE(command.hand_out_win);
  EXPECT_EQ(command.key, "first");
  EXPECT_EQ(request_.keys, "second  third");
}

TEST_F(ParseTest, OnlyTheFirstRequestIsConsumed) {
  const ParseResult result = Parse("get a\r\nget b\r\n");
  EXPECT_EQ(result.consumed_bytes, 7u);
  EXPECT_EQ(request_.command.key, "a");
  EXPECT_TRUE(request_.keys.empty());
}

TEST_F(ParseTest, NothingOfAnEarlierRequestStays) {
  ParseWhole("ms a 1 T5 F6 C7 I q v\r\nx\r\n");
  const cache::Command& command = ParseWhole("get b\r\n");
  EXPECT_FALSE(command.compare_cas || command.invalidate || request_.quiet);
  EXPECT_TRUE(command.value.empty() && request_.meta_tokens.empty());
  EXPECT_EQ(command.expiry, cache::kNeverExpires);
}

TEST_F(ParseTest, StoreCarriesEverything) {
  const cache::Command& command = ParseWhole("cas k 5 60 3 99 noreply\r\nxyz\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kStore);
  EXPECT_EQ(command.verb, cache::Verb::kStore);
  EXPECT_EQ(command.store_mode, cache::StoreMode::kSet);
  EXPECT_TRUE(command.compare_cas && request_.noreply);
  EXPECT_EQ(command.key, "k");
  EXPECT_EQ(command.value, "xyz");
  EXPECT_EQ(command.client_flags, 5u);
  EXPECT_EQ(command.expiry, kNow + 60);
  EXPECT_EQ(command.cas_expected, 99u);
}

TEST_F(ParseTest, StoreAsksForTheBytesItNeeds) {
  const std::string line = "set k 0 0 1000\r\n";
  for (const std::string& value : {std::string(), std::string(1000, 'x'), std::string(1001, 'x')}) {
    const ParseResult result = Parse(line + value);
    EXPECT_EQ(result.status, ParseStatus::kNeedMore);
    EXPECT_EQ(result.needed_bytes, line.size() + 1002);
    EXPECT_EQ(result.consumed_bytes, 0u);
    EXPECT_EQ(result.scanned_bytes, 0u);
  }
}

TEST_F(ParseTest, TooLargeIsRefusedBeforeItsValueArrives) {
  context_.item_bytes_max = 1000;
  const size_t value_bytes_max = 1000 - kItemOverheadBytes - 3;
  EXPECT_EQ(Parse("set abc 0 0 " + std::to_string(value_bytes_max) + "\r\n").status,
            ParseStatus::kNeedMore);
  const std::string line = "set abc 0 0 " + std::to_string(value_bytes_max + 1) + "\r\n";
  const ParseResult result = Parse(line);
  EXPECT_EQ(result.status, ParseStatus::kRequest);
  EXPECT_EQ(result.consumed_bytes, line.size());
  EXPECT_EQ(request_.swallow_bytes, value_bytes_max + 3);
  EXPECT_TRUE(request_.drop_key);
  EXPECT_EQ(request_.command.verb, cache::Verb::kDelete);
  EXPECT_EQ(request_.command.key, "abc");
}

TEST_F(ParseTest, LongestLengthIsSwallowedWithoutOverflow) {
  Parse("set a 0 0 2147483645\r\n");
  EXPECT_EQ(request_.swallow_bytes, uint64_t{2147483647});
}

TEST_F(ParseTest, ExpiryIsDurationUpToThirtyDaysAndDateBeyond) {
  EXPECT_EQ(ExpiryFrom(0, context_), cache::kNeverExpires);
  EXPECT_EQ(ExpiryFrom(-1, context_), cache::kExpiredAtOnce);
  EXPECT_EQ(ExpiryFrom(-2147483647 - 1, context_), cache::kExpiredAtOnce);
  EXPECT_EQ(ExpiryFrom(1, context_), kNow + 1);
  EXPECT_EQ(ExpiryFrom(30 * kDay, context_), kNow + 30 * kDay);
  EXPECT_EQ(ExpiryFrom(30 * kDay + 1, context_), cache::kExpiredAtOnce);
  EXPECT_EQ(ExpiryFrom(kStart, context_), cache::kExpiredAtOnce);
  EXPECT_EQ(ExpiryFrom(kStart + 1, context_), kStart + 1);
  EXPECT_EQ(ExpiryFrom(2147483647, context_), 2147483647u);
}

TEST_F(ParseTest, LineOf2048BytesIsAwaitedAndALongerOneClosesAndSaysWhy) {
  EXPECT_EQ(Parse(std::string(2048, 'x')).status, ParseStatus::kNeedMore);
  EXPECT_EQ(Parse(std::string(2048, 'x') + "\n").status, ParseStatus::kRequest);
  EXPECT_FALSE(request_.close);
  EXPECT_TRUE(IsRefusedAsTooLong(std::string(2049, 'x')));
  EXPECT_TRUE(IsRefusedAsTooLong(std::string(2049, 'x') + "\nmn\r\n"));
  EXPECT_TRUE(IsRefusedAsTooLong("mg key " + std::string(3000, 'x') + "\r\n"));
}

TEST_F(ParseTest, LongReadsAreAwaited) {
  for (const std::string start : {"get ", "gets ", "gat 0 ", "gats 0 ", "  get "}) {
    std::string line = start;
    while (line.size() < 3000) line += "key ";
    EXPECT_EQ(Parse(line).status, ParseStatus::kNeedMore) << start;
    EXPECT_EQ(Parse(line + "\r\n").status, ParseStatus::kRequest) << start;
    EXPECT_EQ(request_.kind, RequestKind::kRead) << start;
  }
  EXPECT_TRUE(IsRefusedAsTooLong(std::string(101, ' ') + "get " + std::string(3000, ' ')));
}

TEST_F(ParseTest, LongReadsHaveALimitOfTheirOwn) {
  context_.read_line_bytes_max = 5000;
  std::string line = "get ";
  while (line.size() < 5000) line += "key ";
  EXPECT_EQ(Parse(line).status, ParseStatus::kNeedMore);
  EXPECT_EQ(Parse(line + "\n").status, ParseStatus::kRequest);
  EXPECT_TRUE(IsRefusedAsTooLong(line + "x"));
  EXPECT_TRUE(IsRefusedAsTooLong(line + "x\n"));
}

TEST_F(ParseTest, ScannedBytesAreNotScannedAgainButANulInThemCounts) {
  const ParseResult first = Parse(std::string_view("get a\0b", 7));
  EXPECT_EQ(first.status, ParseStatus::kNeedMore);
  EXPECT_EQ(first.scanned_bytes, 7u);
  context_.line_scanned_bytes = first.scanned_bytes;
  EXPECT_EQ(Parse(std::string_view("get a\0b c\r\n", 11)).status, ParseStatus::kRequest);
  EXPECT_EQ(request_.command.key, "a");
  EXPECT_TRUE(request_.keys.empty());
}

TEST_F(ParseTest, TooLongAKeyIsFoundAnywhereInALine) {
  for (size_t before = 0; before < 600; before += 7) {
    std::string line = "get first";
    while (line.size() < 9 + before) line += " k" + std::to_string(line.size() % 13);
    EXPECT_EQ(Parse(line + ' ' + std::string(250, 'k') + " z\r\n").status, ParseStatus::kRequest);
    EXPECT_EQ(request_.kind, RequestKind::kRead);
    Parse(line + ' ' + std::string(251, 'k') + " z\r\n");
    EXPECT_EQ(request_.kind, RequestKind::kText);
  }
}

TEST_F(ParseTest, MetaReadCarriesItsSwitches) {
  const cache::Command& command = ParseWhole("mg k c h T10 N20 R30 E40 u q v b\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kText);  // k is not base64
  ParseWhole("mg YWI= c h T10 N20 R30 E40 u q v b I C5\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kMetaRead);
  EXPECT_TRUE(command.want_cas && command.want_access && command.quiet_access);
  EXPECT_TRUE(command.update_expiry && command.vivify && command.recache && command.hand_out_win);
  EXPECT_TRUE(command.explicit_cas && command.binary_key && request_.quiet &&
              request_.return_value);
  EXPECT_FALSE(command.compare_cas || command.invalidate);
  EXPECT_TRUE(request_.unless_cas);
  EXPECT_EQ(command.cas_expected, 5u);
  EXPECT_EQ(command.key, "ab");
  EXPECT_EQ(command.key.data(), scratch_);
  EXPECT_EQ(command.expiry, kNow + 10);
  EXPECT_EQ(command.vivify_expiry, kNow + 20);
  EXPECT_EQ(command.recache_s, 30);
  EXPECT_EQ(command.cas_new, 40u);
}

TEST_F(ParseTest, MetaStoreCreatesOnAMissInAppendModesOnly) {
  EXPECT_TRUE(ParseWhole("ms k 1 MA N20\r\nx\r\n").vivify);
  EXPECT_EQ(request_.command.vivify_expiry, kNow + 20);
  EXPECT_TRUE(ParseWhole("ms k 1 MP N20\r\nx\r\n").vivify);
  EXPECT_FALSE(ParseWhole("ms k 1 MS N20\r\nx\r\n").vivify);
  EXPECT_FALSE(ParseWhole("ms k 1 MR N20\r\nx\r\n").vivify);
}

TEST_F(ParseTest, MetaStoreTakesAVersionToGive) {
  const cache::Command& command = ParseWhole("ms k 1 E77 C5 I c\r\nx\r\n");
  EXPECT_TRUE(command.explicit_cas && command.compare_cas && command.invalidate);
  EXPECT_EQ(command.cas_new, 77u);
  EXPECT_EQ(command.cas_expected, 5u);
}

TEST_F(ParseTest, MetaDeleteMayKeepTheObject) {
  EXPECT_TRUE(ParseWhole("md k x I T30 E9\r\n").drop_value);
  EXPECT_TRUE(request_.command.invalidate && request_.command.update_expiry);
  EXPECT_TRUE(request_.command.explicit_cas);
  EXPECT_FALSE(ParseWhole("md k T30\r\n").update_expiry);
}

TEST_F(ParseTest, MetaArithmeticCarriesItsSwitches) {
  const cache::Command& command = ParseWhole("ma k MD D5 J6 N7 T8 C9 E10\r\n");
  EXPECT_TRUE(command.decrement && command.vivify && command.update_expiry);
  EXPECT_TRUE(command.compare_cas && command.explicit_cas);
  EXPECT_EQ(command.delta, 5u);
  EXPECT_EQ(command.initial, 6u);
  EXPECT_EQ(ParseWhole("ma k\r\n").delta, 1u);
  EXPECT_FALSE(ParseWhole("ma k C0\r\n").compare_cas);
}

TEST_F(ParseTest, FlushTakesADelayOrADate) {
  ParseWhole("flush_all\r\n");
  EXPECT_EQ(request_.flush_at_s, 0u);
  ParseWhole("flush_all 10 noreply\r\n");
  EXPECT_EQ(request_.flush_at_s, kNow + 10);
  EXPECT_TRUE(request_.noreply);
  ParseWhole("flush_all " + std::to_string(kNow + 500) + "\r\n");
  EXPECT_EQ(request_.flush_at_s, kNow + 500);
  ParseWhole("flush_all -5\r\n");
  EXPECT_EQ(request_.flush_at_s, 0u);
}

TEST_F(ParseTest, ShutdownNeedsToBeEnabled) {
  context_.shutdown_enabled = true;
  ParseWhole("shutdown\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kShutdown);
  EXPECT_TRUE(request_.close);
  EXPECT_FALSE(request_.graceful);
  ParseWhole("shutdown graceful\r\n");
  EXPECT_TRUE(request_.graceful);
  ParseWhole("shutdown now\r\n");
  EXPECT_EQ(request_.text, "CLIENT_ERROR invalid shutdown mode\r\n");
}

TEST_F(ParseTest, StatsKeepsItsArguments) {
  ParseWhole("stats  detail on \r\n");
  EXPECT_EQ(request_.kind, RequestKind::kStats);
  EXPECT_EQ(request_.arguments, "detail on ");
  ParseWhole("verbosity 3\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kVerbosity);
  EXPECT_EQ(request_.number, 3u);
  ParseWhole("cache_memlimit 100\r\n");
  EXPECT_EQ(request_.kind, RequestKind::kMemoryLimit);
  EXPECT_EQ(request_.number, 100u);
}

// Whoever pipelines much would make the parser look at all of it for each line. What lies far
// behind the line cannot be read here.
TEST_F(ParseTest, LooksAtItsOwnLineAlone) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const end = static_cast<char*>(pages) + page;
  ASSERT_EQ(mprotect(end, 2 * page, PROT_NONE), 0);
  for (const char* const line : {"mn\r\n",
                                 "x\r\n",
                                 "version\r\n",
                                 "get key\r\n",
                                 "gets a b c\r\n",
                                 "gat 0 key\r\n",
                                 "touch key 0\r\n",
                                 "incr key 1\r\n",
                                 "delete key\r\n",
                                 "delete key noreply\r\n",
                                 "mg key\r\n",
                                 "mg key v k\r\n",
                                 "md key q\r\n",
                                 "ma key N0\r\n",
                                 "me key\r\n",
                                 "set key 0 0 16000\r\n",
                                 "ms key 16000\r\n",
                                 "set key 0 0 99999999\r\n",
                                 "set key\r\n",
                                 "flush_all\r\n",
                                 "stats\r\n",
                                 "stats settings\r\n",
                                 "verbosity 1\r\n",
                                 "quit\r\n",
                                 "\r\n"}) {
    char* const begin = end - 64;
    std::memset(begin, 'x', 64);
    std::memcpy(begin, line, std::strlen(line));
    // As though three pages had come.
    const ParseResult result = protocol::Parse({begin, 64 + 2 * page}, context_, &request_);
    EXPECT_NE(result.status, ParseStatus::kClose) << line;
  }
  munmap(pages, 3 * page);
}

TEST_F(ParseTest, WatchNamesClassesOfEvents) {
  const std::pair<const char*, uint32_t> lines[] = {
      {"watch", kWatchFetchers},
      {"watch fetchers", kWatchFetchers},
      {"watch  mutations evictions ", kWatchMutations | kWatchEvictions},
      {"watch connevents deletions pipeline", kWatchConnections | kWatchDeletions | kWatchPipeline},
      {"watch rawcmds sysevents proxyreqs proxyevents proxyuser", kWatchNothing},
      {"watch fetcher", kWatchUnknown},
      {"watch fetchers Mutations", kWatchFetchers | kWatchUnknown},
  };
  for (const auto& [line, classes] : lines) {
    ParseWhole(std::string(line) + "\r\n");
    EXPECT_EQ(request_.kind, RequestKind::kWatch) << line;
    EXPECT_EQ(request_.number, classes) << line;
    EXPECT_FALSE(request_.noreply) << line;
  }
  ParseWhole("watch fetchers noreply\r\n");
  EXPECT_EQ(request_.number, kWatchFetchers | kWatchUnknown);
  EXPECT_TRUE(request_.noreply);
}

}  // namespace
}  // namespace weft::protocol
