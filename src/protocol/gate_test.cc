#include "protocol/gate.h"

#include <gtest/gtest.h>

#include <string>

#include "cache/cache_test_kit.h"
#include "protocol/binary_test_kit.h"

namespace weft::protocol {
namespace {

// One connection's way to the queries of a batch.
class GateTest : public testing::Test {
 protected:
  Entering Send(Gate gate, std::string_view input) {
    conversation_ = std::make_unique<Conversation>(Terms(Dialect::kAny, gate));
    return Send(input);
  }
  Entering Send(std::string_view input) {
    batch_.Clear();
    entered_.Clear();
    ParseContext context;
    context.now_s = 1'700'000'000;
    context.start_s = context.now_s - 100;
    context.scratch = scratch_;
    input_ = input;
    return Enter(input_, context, *store_, batch_.AddSource(1 << 20), conversation_.get(), &batch_,
                 &entered_);
  }
  const Request& RequestOf(uint32_t tag) { return entered_.RequestOf(entered_[tag]); }

  std::unique_ptr<cache::Store> store_ = cache::OpenStore();
  pipeline::Batch batch_{pipeline::Plan::OneStageCpu()};
  Entries entered_;
  std::unique_ptr<Conversation> conversation_;
  std::string input_;
  char scratch_[kScratchBytes];
};

TEST_F(GateTest, WhoeverMustEnterSpeaksTheGatesProtocol) {
  for (const Dialect dialect : {Dialect::kAny, Dialect::kText, Dialect::kBinary}) {
    EXPECT_EQ(Terms(dialect, Gate::kOpen).dialect(), dialect);
    EXPECT_EQ(Terms(dialect, Gate::kToken).dialect(), Dialect::kText);
    EXPECT_EQ(Terms(dialect, Gate::kSasl).dialect(), Dialect::kBinary);
  }
}

TEST_F(GateTest, WhatIsBehindATokenWaitsForTheAnswer) {
  const std::string token = "set any 1 2 11\r\nuser secret\r\n";
  const Entering entering = Send(Gate::kToken, "get a\r\n" + token + "get b\r\n");
  EXPECT_EQ(entering.exhausted, Exhausted::kWaits);
  EXPECT_EQ(entering.parsed_bytes, 7 + token.size());
  ASSERT_EQ(batch_.size(), 2u);
  EXPECT_EQ(RequestOf(0).kind, RequestKind::kText);
  EXPECT_EQ(RequestOf(0).text, "CLIENT_ERROR unauthenticated\r\n");
  ASSERT_EQ(RequestOf(1).kind, RequestKind::kLogin);
  Credentials credentials;
  ASSERT_TRUE(CredentialsOf(RequestOf(1), &credentials));
  EXPECT_EQ(credentials.user, "user");
  EXPECT_EQ(credentials.password, "secret");
  conversation_->admitted = true;
  Send("get b\r\n");
  ASSERT_EQ(batch_.size(), 1u);
  EXPECT_EQ(batch_.kind(0), pipeline::QueryKind::kRead);
}

TEST_F(GateTest, NoCommandOfTextPassesBeforeAToken) {
  for (const std::string_view line : {"get a",
                                      "gets a",
                                      "gat 0 a",
                                      "mg a v",
                                      "mn",
                                      "version",
                                      "quit",
                                      "stats",
                                      "flush_all",
                                      "shutdown",
                                      "delete a",
                                      "incr a 1",
                                      "touch a 0",
                                      "set a 0 0",
                                      "add a 0 0 11",
                                      "watch",
                                      "x",
                                      "verbosity 1",
                                      "cache_memlimit 64",
                                      "",
                                      "set a 0 0 -1",
                                      "set a 0 0 5x"}) {
    Send(Gate::kToken, std::string(line) + "\r\n");
    ASSERT_EQ(batch_.size(), 1u) << line;
    EXPECT_EQ(RequestOf(0).text, "CLIENT_ERROR unauthenticated\r\n") << line;
  }
}

TEST_F(GateTest, TokensThatAreNoneAreRefusedInMemcachedsWords) {
  const auto text = [this](std::string_view input) {
    Send(Gate::kToken, input);
    return batch_.size() == 1 ? std::string(RequestOf(0).text) : "nothing";
  };
  EXPECT_EQ(text("set a 0 0 4\r\nuser\r\n"), "CLIENT_ERROR bad authentication token format\r\n");
  EXPECT_EQ(text("set a 0 0 0\r\n\r\n"), "CLIENT_ERROR bad authentication token format\r\n");
  EXPECT_EQ(text("set a 0 0 5\r\na secret"), "CLIENT_ERROR bad command line termination\r\n");
  EXPECT_EQ(text("set a 0 0 16385\r\n"), "CLIENT_ERROR auth token too long\r\n");
  EXPECT_TRUE(RequestOf(0).close);
  EXPECT_EQ(text("set a 0 0 16384\r\nx"), "nothing");
}

TEST_F(GateTest, OtherProtocolsAndEndlessLinesAreHungUpOn) {
  for (const std::string& input :
       {std::string("GET / HTTP/1.1\r\n"), std::string("Host: x\r\n"),
        std::string("\x16\x03\x01", 3), std::string(1, '\x80'), std::string(2049, 'x')})
    EXPECT_EQ(Send(Gate::kToken, input).exhausted, Exhausted::kClose) << input.substr(0, 20);
  EXPECT_EQ(Send(Gate::kToken, std::string(2048, 'x')).exhausted, Exhausted::kInput);
  EXPECT_EQ(Send(Gate::kSasl, "version\r\n").exhausted, Exhausted::kClose);
}

TEST_F(GateTest, BeforeALogInOneOpcodeOfTheOthersIsServed) {
  for (int number = 0; number < 256; ++number) {
    const auto opcode = static_cast<Opcode>(number);
    const bool is_login = opcode == Opcode::kSaslAuth || opcode == Opcode::kSaslStep;
    const std::string key = is_login ? "PLAIN" : "";
    const std::string packet = Bytes({.opcode = opcode, .key = key, .value = is_login ? "x" : ""});
    const Entering entering = Send(Gate::kSasl, packet + packet);
    ASSERT_GE(batch_.size(), 1u);
    const Request& request = RequestOf(0);
    switch (opcode) {
      case Opcode::kVersion: EXPECT_EQ(request.kind, RequestKind::kVersion); break;
      case Opcode::kSaslList: EXPECT_EQ(request.text, "PLAIN"); break;
      case Opcode::kSaslAuth:
        EXPECT_EQ(request.kind, RequestKind::kLogin);
        EXPECT_EQ(entering.exhausted, Exhausted::kWaits);
        break;
      default:
        EXPECT_EQ(request.kind, RequestKind::kText);
        EXPECT_EQ(request.binary_words.status, 0x20) << number;
        EXPECT_EQ(request.close, opcode != Opcode::kSaslStep) << number;
        EXPECT_EQ(request.refused == Refused::kMechanism, !request.close) << number;
        break;
    }
  }
}

TEST_F(GateTest, PlainNamesUserAndPassword) {
  const auto login = [this](std::string mechanism, std::string message) {
    Send(Gate::kSasl, Bytes({.opcode = Opcode::kSaslAuth,
                             .key = std::move(mechanism),
                             .value = std::move(message)}));
    EXPECT_EQ(batch_.size(), 1u);
    return RequestOf(0);
  };
  Credentials credentials;
  const auto bytes = [](std::string_view text) { return std::string(text); };
  using std::string_view_literals::operator""sv;
  ASSERT_TRUE(CredentialsOf(login("PLAIN", bytes("for\0user\0secret"sv)), &credentials));
  EXPECT_EQ(credentials.user, "user");
  EXPECT_EQ(credentials.password, "secret");
  ASSERT_TRUE(CredentialsOf(login("PLAIN", bytes("\0user\0"sv)), &credentials));
  EXPECT_EQ(credentials.password, "");
  EXPECT_FALSE(CredentialsOf(login("PLAIN", "user secret"), &credentials));
  EXPECT_FALSE(CredentialsOf(login("PLAIN", bytes("\0user"sv)), &credentials));
  const Request other = login("CRAM-MD5", "");
  EXPECT_EQ(other.binary_words.status, 0x20);
  EXPECT_EQ(other.refused, Refused::kMechanism);
  EXPECT_EQ(login(std::string(33, 'M'), "").refused, Refused::kNone);
  EXPECT_EQ(login(std::string(33, 'M'), "").binary_words.status, 0x04);
  EXPECT_FALSE(login(std::string(33, 'M'), "").close);
  const Request too_long = login("PLAIN", std::string(kTokenBytesMax + 1, 'x'));
  EXPECT_EQ(too_long.binary_words.status, 0x04);
  EXPECT_TRUE(too_long.close);
}

TEST_F(GateTest, WithoutAGateSaslIsUnknown) {
  Send(Gate::kOpen, Bytes({.opcode = Opcode::kSaslList}));
  EXPECT_EQ(RequestOf(0).binary_words.status, 0x81);
}

}  // namespace
}  // namespace weft::protocol
