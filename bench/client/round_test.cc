#include "bench/client/round.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/harness/payload.h"

namespace weft::bench {
namespace {

const PayloadShape kShape{16, 64, 64};

std::string Key(uint32_t id) {
  std::string key(16, ' ');
  WriteKey(id, key.data(), 16);
  return key;
}

// The reply that a get of `id` deserves.
std::string Value(uint32_t id) {
  std::string value(64, ' ');
  WriteValue(id, value.data(), 64);
  return "VALUE " + Key(id) + " 0 64\r\n" + value + "\r\n";
}

struct Outcome {
  ReplyCounts counts;
  bool done;
  size_t left;  // bytes not taken
};

// Feeds `reply` in pieces of `piece` bytes, as a socket might.
Outcome Feed(Round* round, const std::string& reply, size_t piece) {
  Outcome outcome{};
  RoundReader reader;
  reader.Start(round, &outcome.counts);
  std::string waiting;
  for (size_t at = 0; at < reply.size() && !reader.failed(); at += piece) {
    waiting += reply.substr(at, piece);
    waiting.erase(0, reader.Consume({waiting.data(), waiting.size()}));
  }
  outcome.done = reader.done() && !reader.failed();
  outcome.left = waiting.size();
  return outcome;
}

TEST(Round, WritesRequestsOfTheProtocol) {
  Round round(kShape);
  const uint32_t ids[] = {1, 2};
  round.AddGet(ids);
  round.AddSet(3, 60);
  EXPECT_EQ(round.request().substr(0, 39), "get " + Key(1) + " " + Key(2) + "\r\n");
  EXPECT_EQ(round.request().substr(39, 30), "set " + Key(3) + " 0 60 64\r\n");
  EXPECT_EQ(round.op_count(), 2u);
}

TEST(Round, AcceptsProperRepliesHoweverTheyArrive) {
  for (const size_t piece : {1, 7, 100, 4096}) {
    Round round(kShape);
    const uint32_t ids[] = {5, 6, 7};
    round.AddGet(1);
    round.AddGet(2);
    round.AddSet(3);
    round.AddGet(ids);
    const std::string reply = Value(1) +
                              "END\r\n"
                              "END\r\n"
                              "STORED\r\n" +
                              Value(5) + Value(7) + "END\r\n";
    const Outcome outcome = Feed(&round, reply, piece);
    EXPECT_TRUE(outcome.done) << outcome.counts.first_error;
    EXPECT_EQ(outcome.left, 0u);
    EXPECT_EQ(outcome.counts.ops, 4u);
    EXPECT_EQ(outcome.counts.keys, 5u);
    EXPECT_EQ(outcome.counts.hits, 3u);
    EXPECT_EQ(outcome.counts.stored, 1u);
    EXPECT_EQ(round.get_hits(), (std::vector<uint8_t>{1, 0, 1, 0, 1}));
  }
}

TEST(Round, RefusesEveryChangedByteOfAReply) {
  const std::string good = Value(9) + "END\r\n";
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    Round round(kShape);
    round.AddGet(9);
    const Outcome outcome = Feed(&round, bad, bad.size());
    EXPECT_EQ(outcome.counts.errors, 1u) << "byte " << at;
    EXPECT_FALSE(outcome.done) << "byte " << at;
  }
}

TEST(Round, RefusesAKeyNobodyAskedFor) {
  Round round(kShape);
  round.AddGet(1);
  EXPECT_EQ(Feed(&round, Value(2) + "END\r\n", 4096).counts.errors, 1u);
}

TEST(Round, CountsARefusedSetApartFromAWrongReply) {
  Round round(kShape);
  round.AddSet(1);
  Outcome outcome = Feed(&round, "SERVER_ERROR out of memory storing object\r\n", 3);
  EXPECT_TRUE(outcome.done);
  EXPECT_EQ(outcome.counts.refused, 1u);
  EXPECT_EQ(outcome.counts.stored, 0u);
  round.Clear();
  round.AddSet(1);
  EXPECT_EQ(Feed(&round, "ERROR\r\n", 3).counts.errors, 1u);
}

TEST(Payload, KeysDifferAndValuesBelongToTheirKey) {
  EXPECT_EQ(Key(0), "weft:wefaaaaaaaa");
  EXPECT_EQ(Key(0x12), "weft:wefaaaaaabc");
  for (const uint32_t bytes : {1u, 7u, 8u, 64u, 1021u}) {
    std::string value(bytes, ' ');
    WriteValue(42, value.data(), bytes);
    EXPECT_TRUE(ValueMatches(42, value.data(), bytes));
    EXPECT_FALSE(ValueMatches(43, value.data(), bytes));
    value[bytes / 2] = static_cast<char>(value[bytes / 2] ^ 1);
    EXPECT_FALSE(ValueMatches(42, value.data(), bytes));
  }
}

TEST(PayloadShape, MixedSizesAreFixedByTheIdAndStayInRange) {
  const PayloadShape mixed{16, 16, 8192};
  double sum = 0;
  for (uint32_t id = 0; id < 10'000; ++id) {
    const uint32_t bytes = mixed.ValueBytes(id);
    ASSERT_EQ(bytes, mixed.ValueBytes(id));
    ASSERT_GE(bytes, 16u);
    ASSERT_LE(bytes, 8192u);
    sum += bytes;
  }
  EXPECT_NEAR(sum / 10'000, 1310, 60);  // (8192 - 16) / ln(512)
}

}  // namespace
}  // namespace weft::bench
