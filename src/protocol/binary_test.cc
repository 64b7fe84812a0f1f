// The binary protocol's packets: what they ask for, how they are refused, and what answers say.
// tests/integration/binary_test.py compares every reply with memcached's.
#include "protocol/binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "base/seed_test_kit.h"
#include "protocol/binary_test_kit.h"

namespace weft::protocol {
namespace {

using cache::StoreMode;
using cache::Verb;
using testing::ElementsAre;

constexpr uint32_t kNowS = 1'700'000'000;

ParseContext Context() {
  ParseContext context;
  context.now_s = kNowS;
  context.start_s = kNowS - 100;
  context.item_bytes_max = 4096;
  return context;
}

ParseResult Parsed(const std::string& input, Request* request) {
  *request = Request();
  return ParseBinary(input, Context(), request);
}

// The request of a whole packet.
Request Of(const PacketText& packet) {
  static std::string input;  // what the request points at
  input = Bytes(packet);
  Request request;
  const ParseResult result = Parsed(input, &request);
  EXPECT_EQ(result.status, ParseStatus::kRequest);
  EXPECT_EQ(result.consumed_bytes + request.swallow_bytes, input.size());
  return request;
}

BinaryStatus StatusOf(const Request& request) {
  EXPECT_EQ(request.kind, RequestKind::kText);
  return static_cast<BinaryStatus>(request.binary_words.status);
}

std::string Answer(const Request& request, std::string_view key, const cache::Reply& reply) {
  std::vector<char> out(BinaryReplyBytesMax(request, key.size()) + reply.value.size());
  return {out.data(), WriteBinaryReply(request, key, reply, out.data())};
}

TEST(Binary, AStoreHasFlagsAndATime) {
  const Request request = Of({.opcode = Opcode::kSet,
                              .extras = Big(uint32_t{0xDEADBEEF}) + Big(uint32_t{60}),
                              .key = "the key",
                              .value = "value"});
  EXPECT_EQ(request.kind, RequestKind::kBinary);
  EXPECT_EQ(request.command.verb, Verb::kStore);
  EXPECT_EQ(request.command.store_mode, StoreMode::kSet);
  EXPECT_EQ(request.command.client_flags, 0xDEADBEEF);
  EXPECT_EQ(request.command.expiry, kNowS + 60);
  EXPECT_EQ(request.command.key, "the key");
  EXPECT_EQ(request.command.value, "value");
  EXPECT_TRUE(request.command.want_cas);
  EXPECT_TRUE(request.command.clears_when_full);
  EXPECT_FALSE(request.command.compare_cas);
  EXPECT_FALSE(request.quiet);
}

TEST(Binary, TimesHaveNoSign) {
  const auto expiry = [](uint32_t exptime) {
    return Of({.opcode = Opcode::kTouch, .extras = Big(exptime), .key = "k"}).command.expiry;
  };
  EXPECT_EQ(expiry(0), cache::kNeverExpires);
  EXPECT_EQ(expiry(kNowS - 1000), cache::kExpiredAtOnce);
  EXPECT_EQ(expiry(0x7FFFFFFF), 0x7FFFFFFFu);
  EXPECT_EQ(expiry(0xFFFFFFFF), kNowS + 0x7FFFFFFF);
}

TEST(Binary, AFlushMayWait) {
  EXPECT_EQ(Of({.opcode = Opcode::kFlush}).flush_at_s, 0u);
  EXPECT_EQ(Of({.opcode = Opcode::kFlushQ, .extras = Big(uint32_t{60})}).flush_at_s, kNowS + 60);
  EXPECT_EQ(Of({.opcode = Opcode::kFlush, .extras = Big(kNowS - 1000)}).flush_at_s, 0u);
}

TEST(Binary, AVersionMakesAStoreACas) {
  for (const Opcode opcode : {Opcode::kSet, Opcode::kAdd, Opcode::kReplaceQ}) {
    const Request request =
        Of({.opcode = opcode, .cas = 77, .extras = std::string(8, '\0'), .key = "k"});
    EXPECT_EQ(request.command.store_mode, StoreMode::kSet);
    EXPECT_TRUE(request.command.compare_cas);
    EXPECT_EQ(request.command.cas_expected, 77u);
  }
  const Request append = Of({.opcode = Opcode::kAppend, .cas = 77, .key = "k", .value = "v"});
  EXPECT_EQ(append.command.store_mode, StoreMode::kAppend);
  EXPECT_TRUE(append.command.compare_cas);
}

TEST(Binary, AnIncrementMayMakeItsNumber) {
  const auto request = [](uint32_t exptime) {
    return Of({.opcode = Opcode::kDecrementQ,
               .extras = Big(uint64_t{5}) + Big(uint64_t{40}) + Big(exptime),
               .key = "n"});
  };
  const Request makes = request(0);
  EXPECT_EQ(makes.command.verb, Verb::kArithmetic);
  EXPECT_TRUE(makes.command.decrement);
  EXPECT_TRUE(makes.quiet);
  EXPECT_EQ(makes.command.delta, 5u);
  EXPECT_EQ(makes.command.initial, 40u);
  EXPECT_TRUE(makes.command.vivify);
  EXPECT_FALSE(request(0xFFFFFFFF).command.vivify);
}

TEST(Binary, ALargeValueIsSkippedAndASetDropsItsKey) {
  PacketText packet{.opcode = Opcode::kSet,
                    .extras = std::string(8, '\0'),
                    .key = "k",
                    .value = std::string(5000, 'v')};
  Request request = Of(packet);
  EXPECT_EQ(StatusOf(request), BinaryStatus::kTooLarge);
  EXPECT_EQ(request.refused, Refused::kTooLarge);
  EXPECT_TRUE(request.drop_key);
  EXPECT_EQ(request.command.key, "k");
  EXPECT_EQ(request.swallow_bytes, 5000u);
  EXPECT_FALSE(request.close);
  packet.opcode = Opcode::kAddQ;
  request = Of(packet);
  EXPECT_EQ(StatusOf(request), BinaryStatus::kTooLarge);
  EXPECT_FALSE(request.drop_key);
  // It is refused before its value is here.
  std::string front = Bytes(packet);
  front.resize(kBinaryHeaderBytes + 9);
  EXPECT_EQ(Parsed(front, &request).status, ParseStatus::kRequest);
}

TEST(Binary, BytesThatLackAreTold) {
  const std::string whole = Bytes({.opcode = Opcode::kSet,
                                   .extras = std::string(8, '\0'),
                                   .key = "key",
                                   .value = "0123456789"});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    Request request;
    const ParseResult result = Parsed(whole.substr(0, bytes), &request);
    ASSERT_EQ(result.status, ParseStatus::kNeedMore) << bytes;
    const size_t needed = bytes < 24 ? 24 : bytes < 35 ? 35 : whole.size();
    ASSERT_EQ(result.needed_bytes, needed) << bytes;
  }
}

TEST(Binary, LengthsThatDoNotFitEndTheConnection) {
  Request request;
  std::string input = Bytes({.opcode = Opcode::kGet, .key = "key"});
  input[11] = 2;  // the body is shorter than the key
  ASSERT_EQ(Parsed(input, &request).status, ParseStatus::kRequest);
  EXPECT_EQ(StatusOf(request), BinaryStatus::kUnknownCommand);
  EXPECT_TRUE(request.close);
  for (const PacketText& packet :
       std::vector<PacketText>{{.opcode = Opcode::kGet},
                               {.opcode = Opcode::kGet, .extras = "abcd", .key = "k"},
                               {.opcode = Opcode::kGet, .key = "k", .value = "v"},
                               {.opcode = Opcode::kGet, .key = std::string(251, 'k')},
                               {.opcode = Opcode::kSet, .extras = "abcd", .key = "k"},
                               {.opcode = Opcode::kNoop, .key = "k"},
                               {.opcode = Opcode::kFlush, .extras = "12345678"},
                               {.opcode = Opcode::kIncrement, .extras = "12345678", .key = "k"}}) {
    ASSERT_EQ(Parsed(Bytes(packet), &request).status, ParseStatus::kRequest);
    EXPECT_EQ(StatusOf(request), BinaryStatus::kInvalid);
    EXPECT_TRUE(request.close);
  }
  input = Bytes({.opcode = Opcode::kSet, .key = "k"});
  input[8] = 0x7F;
  ASSERT_EQ(Parsed(input, &request).status, ParseStatus::kRequest);
  EXPECT_EQ(StatusOf(request), BinaryStatus::kInvalid);
  EXPECT_TRUE(request.close);
  EXPECT_EQ(Parsed("get k\r\n", &request).status, ParseStatus::kClose);
}

TEST(Binary, AnUnknownOpcodeCostsItsBody) {
  const Request request = Of({.opcode = static_cast<Opcode>(0x33), .key = "k", .value = "body"});
  EXPECT_EQ(StatusOf(request), BinaryStatus::kUnknownCommand);
  EXPECT_FALSE(request.close);
  EXPECT_EQ(BinaryFromText(request, ""), Bytes({.magic = 0x81,
                                                .opcode = static_cast<Opcode>(0x33),
                                                .status = BinaryStatus::kUnknownCommand,
                                                .value = "Unknown command"}));
}

TEST(Binary, AHitShowsFlagsVersionAndPerhapsItsKey) {
  cache::Reply reply;
  reply.outcome = Outcome::kHit;
  reply.client_flags = 0x01020304;
  reply.cas = 99;
  reply.value = "value";
  for (const bool shows_key : {false, true}) {
    const Opcode opcode = shows_key ? Opcode::kGetKQ : Opcode::kGetQ;
    const Request request = Of({.opcode = opcode, .opaque = 0xA1B2C3D4, .key = "k"});
    EXPECT_TRUE(ShowsValue(request));
    EXPECT_EQ(Answer(request, "k", reply), Bytes({.magic = 0x81,
                                                  .opcode = opcode,
                                                  .opaque = 0xA1B2C3D4,
                                                  .cas = 99,
                                                  .extras = "\x01\x02\x03\x04",
                                                  .key = shows_key ? "k" : "",
                                                  .value = "value"}));
  }
  const Request touch = Of({.opcode = Opcode::kTouch, .extras = Big(uint32_t{5}), .key = "k"});
  reply.outcome = Outcome::kTouched;
  EXPECT_EQ(
      Answer(touch, "k", reply),
      Bytes({.magic = 0x81, .opcode = Opcode::kTouch, .cas = 99, .extras = "\x01\x02\x03\x04"}));
}

// What travels as its key alone is what ParseBinary would make of it, and all such packets do.
TEST(Binary, GetsAreTakenAsTheyAreParsed) {
  base::Random random(base::TestSeed());
  uint32_t taken = 0;
  for (uint32_t n = 0; n < 200'000; n++) {
    const std::string key(random.Below(4) == 0 ? random.Below(260) : 1 + random.Below(20), 'k');
    std::string packet = Bytes({.opcode = static_cast<Opcode>(random.Below(16)),
                                .opaque = static_cast<uint32_t>(random.Below(1u << 31)),
                                .cas = random.Below(3),
                                .key = key});
    if (random.Below(2) == 0)
      packet[random.Below(16)] = static_cast<char>(random.Below(random.Below(2) == 0 ? 4 : 256));
    packet.resize(packet.size() - std::min(packet.size(), size_t{random.Below(8) / 7}));
    // A buffer of the exact size, so that the sanitizer sees a read past it.
    const std::vector<char> bytes(packet.begin(), packet.end());
    const std::string_view input(bytes.data(), bytes.size());
    Request request;
    const ParseResult parsed = ParseBinary(input, Context(), &request);
    const bool is_read = parsed.status == ParseStatus::kRequest &&
                         request.kind == RequestKind::kBinary &&
                         request.command.verb == Verb::kRead && !request.command.update_expiry;
    BinaryGet get;
    ASSERT_EQ(TakeBinaryGet(input, &get), is_read) << n;
    if (!is_read) continue;
    taken++;
    const Request shared = BinaryRead(kBinaryReads[get.read]);
    EXPECT_EQ(kBinaryHeaderBytes + get.key_bytes, parsed.consumed_bytes);
    EXPECT_EQ(get.key_bytes, request.command.key.size());
    EXPECT_EQ(get.opaque, request.binary_words.opaque);
    EXPECT_EQ(shared.binary_words.opcode, request.binary_words.opcode);
    EXPECT_EQ(shared.binary, request.binary);
    EXPECT_EQ(shared.quiet, request.quiet);
    EXPECT_EQ(shared.return_value, request.return_value);
    EXPECT_EQ(shared.command.want_cas, request.command.want_cas);
    EXPECT_EQ(shared.command.want_value, request.command.want_value);
    EXPECT_EQ(shared.command.binary_key, request.command.binary_key);
  }
  EXPECT_GT(taken, 10'000u);
}

TEST(Binary, QuietOnesSayErrorsAlone) {
  const auto answer = [](Opcode opcode, std::string extras, Outcome outcome) {
    const Request request = Of({.opcode = opcode, .extras = std::move(extras), .key = "k"});
    cache::Reply reply;
    reply.outcome = outcome;
    return Answer(request, "k", reply);
  };
  const std::string store(8, '\0');
  EXPECT_EQ(answer(Opcode::kGetQ, "", Outcome::kMiss), "");
  EXPECT_EQ(answer(Opcode::kGetKQ, "", Outcome::kMiss), "");
  EXPECT_EQ(answer(Opcode::kSetQ, store, Outcome::kStored), "");
  EXPECT_EQ(answer(Opcode::kDeleteQ, "", Outcome::kDeleted), "");
  EXPECT_NE(answer(Opcode::kGetQ, "", Outcome::kIoError), "");
  EXPECT_NE(answer(Opcode::kSetQ, store, Outcome::kNoMemory), "");
  EXPECT_NE(answer(Opcode::kAddQ, store, Outcome::kNotStored), "");
  EXPECT_NE(answer(Opcode::kDeleteQ, "", Outcome::kMiss), "");
  EXPECT_EQ(
      answer(Opcode::kGetK, "", Outcome::kMiss),
      Bytes(
          {.magic = 0x81, .opcode = Opcode::kGetK, .status = BinaryStatus::kNotFound, .key = "k"}));
}

TEST(Binary, AStoreThatFailsTellsWhatItsOpcodeComparedWith) {
  const auto status = [](Opcode opcode, Outcome outcome) {
    const bool lengthens = opcode == Opcode::kAppend;
    const Request request =
        Of({.opcode = opcode, .extras = std::string(lengthens ? 0 : 8, '\0'), .key = "k"});
    cache::Reply reply;
    reply.outcome = outcome;
    return static_cast<int>(Answer(request, "k", reply)[7]);
  };
  EXPECT_EQ(status(Opcode::kAdd, Outcome::kNotStored), 2);
  EXPECT_EQ(status(Opcode::kReplace, Outcome::kNotStored), 1);
  EXPECT_EQ(status(Opcode::kAppend, Outcome::kNotStored), 5);
  EXPECT_EQ(status(Opcode::kAppend, Outcome::kTooLarge), 5);
  EXPECT_EQ(status(Opcode::kSet, Outcome::kTooLarge), 3);
  EXPECT_EQ(status(Opcode::kSet, Outcome::kExists), 2);
  EXPECT_EQ(status(Opcode::kSet, Outcome::kMiss), 1);
}

TEST(Binary, TextsOfTheServerBecomePackets) {
  const Request stats = Of({.opcode = Opcode::kStat, .opaque = 7, .key = "items"});
  EXPECT_EQ(stats.kind, RequestKind::kStats);
  EXPECT_EQ(stats.arguments, "items");
  const auto line = [](std::string name, std::string value) {
    return Bytes({.magic = 0x81,
                  .opcode = Opcode::kStat,
                  .opaque = 7,
                  .key = std::move(name),
                  .value = std::move(value)});
  };
  EXPECT_EQ(BinaryFromText(stats, "STAT a 1\r\nSTAT empty \r\nSTAT text two words\r\nEND\r\n"),
            line("a", "1") + line("empty", "") + line("text", "two words") + line("", ""));
  EXPECT_EQ(BinaryFromText(stats, "RESET\r\n"), line("", ""));
  EXPECT_EQ(BinaryFromText(stats, "PREFIX p get 1 hit 1 set 0 del 0\r\nEND\r\n"),
            line("detailed", "PREFIX p get 1 hit 1 set 0 del 0\r\nEND\r\n") + line("", ""));
  EXPECT_EQ(BinaryFromText(stats, "ERROR\r\n"), Bytes({.magic = 0x81,
                                                       .opcode = Opcode::kStat,
                                                       .status = BinaryStatus::kNotFound,
                                                       .opaque = 7,
                                                       .value = "Not found"}));
  const Request version = Of({.opcode = Opcode::kVersion});
  EXPECT_EQ(BinaryFromText(version, "VERSION 1.6.18\r\n"),
            Bytes({.magic = 0x81, .opcode = Opcode::kVersion, .value = "1.6.18"}));
  const Request flush = Of({.opcode = Opcode::kFlushQ});
  EXPECT_EQ(BinaryFromText(flush, "OK\r\n"), "");
  EXPECT_EQ(BinaryFromText(flush, "CLIENT_ERROR flush_all not allowed\r\n")[7], 0x20);
  EXPECT_EQ(BinaryFromText(flush, kIoErrorText)[7], static_cast<char>(0x84));
  EXPECT_EQ(BinaryFromText(Of({.opcode = Opcode::kQuit}), "").size(), kBinaryHeaderBytes);
  EXPECT_EQ(BinaryFromText(Of({.opcode = Opcode::kQuitQ}), ""), "");
  EXPECT_EQ(BinaryFromText(Of({.opcode = Opcode::kNoop}), "").size(), kBinaryHeaderBytes);
}

}  // namespace
}  // namespace weft::protocol
