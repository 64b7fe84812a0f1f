// Every outcome of incr, decr and ma, on one thread.
#include <gtest/gtest.h>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

class Arithmetic : public testing::Test {
 protected:
  uint32_t now() const { return base::NowSeconds(); }
  const std::unique_ptr<Store> store_ = OpenStore();
  Client client_{store_.get()};
};

TEST_F(Arithmetic, CountsUpWrapsAndStopsAtZero) {
  EXPECT_EQ(client_.Count("n", 1).reply.outcome, Outcome::kMiss);
  client_.Set("n", "10");
  EXPECT_EQ(client_.Count("n", 5).reply.number, 15u);
  EXPECT_EQ(client_.Count("n", 6, true).reply.number, 9u);
  EXPECT_EQ(client_.Value("n"), "9 ");  // memcached keeps the length
  EXPECT_EQ(client_.Count("n", 100, true).reply.number, 0u);
  client_.Set("n", "18446744073709551615");
  EXPECT_EQ(client_.Count("n", 2).reply.number, 1u);
}

TEST_F(Arithmetic, PadsToTheLengthOfTheOldValueHoweverLongItWas) {
  for (const size_t bytes : {20, 21, 255, 256, 257, 300, 5000, 100'000}) {
    std::string text(bytes, ' ');
    text[0] = '9';
    client_.Set("n", text);
    EXPECT_EQ(client_.Count("n", 1).reply.number, 10u);
    text.replace(0, 2, "10");
    EXPECT_EQ(client_.Value("n"), text) << bytes;
    EXPECT_EQ(client_.Count("n", 2, true).reply.number, 8u);
    text.replace(0, 2, "8 ");
    EXPECT_EQ(client_.Value("n"), text) << bytes;
    // What stood behind the number goes.
    text.replace(0, 5, "7 abc");
    client_.Set("n", text);
    EXPECT_EQ(client_.Count("n", 1).reply.number, 8u);
    EXPECT_EQ(client_.Value("n"), "8" + std::string(bytes - 1, ' ')) << bytes;
  }
}

TEST_F(Arithmetic, RefusesWhatIsNoNumberAndLeavesIt) {
  for (const char* text : {"", "abc", "1a", "-1", "18446744073709551616", "1.5", "-", "+-1", "- 1",
                           "-9223372036854775808", "9223372036854775808 -"}) {
    client_.Set("n", text);
    EXPECT_EQ(client_.Count("n", 1).reply.outcome, Outcome::kNotNumeric) << text;
    EXPECT_EQ(client_.Value("n"), text);
  }
}

TEST_F(Arithmetic, ReadsASignAsMemcachedDoes) {
  for (const char* text : {"-0", "+0", " -0 "}) {
    client_.Set("n", text);
    EXPECT_EQ(client_.Count("n", 7).reply.number, 7u) << text;
  }
  client_.Set("n", "-18446744073709551615");
  EXPECT_EQ(client_.Count("n", 1).reply.number, 2u);
}

TEST_F(Arithmetic, VivifiesWithTheInitialNumber) {
  Command command = Client::Of(Verb::kArithmetic, "n");
  command.vivify = true;
  command.initial = 13;
  command.delta = 4;
  command.vivify_expiry = now() + 30;
  Answer answer = client_.Run(command);
  EXPECT_EQ(answer.reply.outcome, Outcome::kStored);
  EXPECT_EQ(answer.reply.number, 13u);
  answer = client_.Run(command);
  EXPECT_EQ(answer.reply.outcome, Outcome::kNumber);
  EXPECT_EQ(answer.reply.number, 17u);
  EXPECT_GE(client_.Get("n").reply.ttl_s, 28);
}

TEST_F(Arithmetic, ComparesTheVersionWhereAsked) {
  client_.Set("n", "1");
  Command command = Client::Of(Verb::kArithmetic, "n");
  command.compare_cas = true;
  command.cas_expected = client_.Gets("n").reply.cas;
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kNumber);
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kExists);
  EXPECT_EQ(client_.Value("n"), "2");
}

}  // namespace
}  // namespace weft::cache
