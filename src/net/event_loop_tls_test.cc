// What a handler and its clients may rely on where bytes are sealed, for every kind of loop.
#include <random>
#include <thread>

#include "base/folder_test_kit.h"
#include "base/seed_test_kit.h"
#include "net/tls.h"
#include "net/tls_test_kit.h"

namespace weft::net {
namespace {

// A server with a certificate, whose authority signs those of its clients.
class TlsLoopTest : public LoopTest {
 protected:
  TlsLoopTest()
      : authority_("authority"), server_("server", &authority_), client_("c", &authority_) {
    authority_.Write(folder_ / "ca.pem");
    server_.Write(folder_ / "server.pem");
  }
  TlsOptions Files() const {
    TlsOptions options;
    options.chain_path = folder_ / "server.pem";
    options.ca_path = folder_ / "ca.pem";
    return options;
  }
  TlsServer& Serve(TlsMode mode = TlsMode::kAsSet, TlsOptions tls = {}, LoopOptions options = {},
                   size_t loop_count = 1) {
    if (tls.chain_path.empty()) tls = Files();
    auto made = TlsServer::Create(tls);
    EXPECT_TRUE(made.has_value()) << made.error().ToString();
    tls_ = std::move(*made);
    auto opened = Listener::OpenTcp({"127.0.0.1", 0}, mode, {.backlog = 4096});
    EXPECT_TRUE(opened.has_value());
    options.tls = tls_.get();
    loops_ = std::make_unique<TestServer>(GetParam(), options, loop_count, std::move(*opened));
    return *tls_;
  }
  const SocketAddress& address() const { return loops_->address(); }

  base::TestFolder folder_;
  Identity authority_;
  Identity server_;
  Identity client_;
  std::unique_ptr<TlsServer> tls_;
  std::unique_ptr<TestServer> loops_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, TlsLoopTest,
                         ::testing::Values(EventLoop::Kind::kEpoll, EventLoop::Kind::kUring),
                         KindName);

std::string Lines(std::mt19937& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += std::to_string(i) + std::string(random() % 300, static_cast<char>('A' + i % 26)) + "\n";
  return text;
}

TEST_P(TlsLoopTest, EchoesWhateverTheRecordsAndTheSplits) {
  Serve();
  std::mt19937 random(base::TestSeed(1));
  for (const size_t record : {1, 7, 1000, 16384}) {
    for (const size_t cut : {0, 1, 100}) {
      const std::string text = Lines(random, record == 1 || cut == 1 ? 3 : 300);
      TlsPeer peer(address());
      peer.CutSends(cut);
      ASSERT_TRUE(peer.ShakeHands());
      ASSERT_TRUE(peer.Seal(text, record));
      std::thread writer([sealed = peer.TakeSealed(), &peer, cut] {
        for (size_t at = 0; at < sealed.size();) {
          const size_t n = cut == 0 ? sealed.size() : std::min(cut, sealed.size() - at);
          ASSERT_TRUE(peer.peer().Send(std::string_view(sealed).substr(at, n)));
          at += n;
        }
      });
      EXPECT_TRUE(peer.Receive(text.size()) == text) << record << " " << cut;
      writer.join();
      peer.SayGoodbye();
      EXPECT_TRUE(peer.SeesGoodbye());
    }
  }
  EXPECT_TRUE(Eventually([&] { return loops_->loop().Stats().buffer_bytes == 0; }));
  EXPECT_EQ(tls_->Stats().handshake_errors + tls_->Stats().protocol_errors, 0u);
}

TEST_P(TlsLoopTest, LargeRequestsAndRepliesPass) {
  Serve();
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  const std::string value(3'000'000, '\x01');
  ASSERT_TRUE(peer.Send("need 3000000\n" + value + "big 5000000\nend\n"));
  EXPECT_EQ(peer.Receive(16), "3000000 3000000\n");
  EXPECT_TRUE(peer.Receive(5'000'000) == std::string(5'000'000, 'b'));
  EXPECT_EQ(peer.Receive(4), "end\n");
}

// Nothing of it is sealed before it is sent.
TEST_P(TlsLoopTest, WhatIsTakenBackIsNotSent) {
  Serve();
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  ASSERT_TRUE(peer.Send("oops 100000\nkept\noops 5\ndrop 30000\n" + std::string(30'000, 'z') +
                        "last\nquit\n"));
  EXPECT_EQ(peer.Receive(10), "kept\nlast\n");
  EXPECT_TRUE(peer.SeesGoodbye());
}

TEST_P(TlsLoopTest, BytesCountedAreThoseOfTheHandler) {
  Serve();
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  ASSERT_TRUE(peer.Send("hello\nbig 100000\n"));
  ASSERT_EQ(peer.Receive(100'006).size(), 100'006u);
  const LoopStats stats = loops_->loop().Stats();
  EXPECT_EQ(stats.bytes_in, 17u);
  EXPECT_EQ(stats.bytes_out, 100'006u);
}

TEST_P(TlsLoopTest, PeerThatDoesNotReadIsWaitedForWithBoundedMemory) {
  Serve();
  TlsPeer slow(address());
  TlsPeer quick(address());
  ASSERT_TRUE(slow.ShakeHands() && quick.ShakeHands());
  std::string asks;
  for (int i = 0; i < 400; ++i) asks += "big 100000\n";
  ASSERT_TRUE(slow.Send(asks));
  ASSERT_TRUE(quick.Send("quick\n"));
  EXPECT_EQ(quick.Receive(6), "quick\n");
  EXPECT_LE(loops_->loop().Stats().buffer_bytes, size_t{4} << 20);
  EXPECT_EQ(slow.Receive(40'000'000).size(), 40'000'000u);
}

TEST_P(TlsLoopTest, CertificatesOfClientsAreAskedForAsTheListenerSays) {
  const Identity stranger("stranger");
  struct Case {
    TlsMode mode;
    TlsOptions::Verify verify;
    const Identity* identity;
    bool enters;
  };
  using Verify = TlsOptions::Verify;
  const Case cases[] = {
      {TlsMode::kAsSet, Verify::kNone, nullptr, true},
      {TlsMode::kAsSet, Verify::kNone, &stranger, true},
      {TlsMode::kAsSet, Verify::kAsk, nullptr, true},
      {TlsMode::kAsSet, Verify::kAsk, &client_, true},
      {TlsMode::kAsSet, Verify::kAsk, &stranger, false},
      {TlsMode::kAsSet, Verify::kRequire, nullptr, false},
      {TlsMode::kAsSet, Verify::kRequire, &client_, true},
      {TlsMode::kAsSet, Verify::kOnce, nullptr, false},
      {TlsMode::kAsSet, Verify::kOnce, &client_, true},
      {TlsMode::kAnyone, Verify::kRequire, nullptr, true},
      {TlsMode::kCertified, Verify::kNone, nullptr, false},
      {TlsMode::kCertified, Verify::kNone, &stranger, false},
      {TlsMode::kCertified, Verify::kNone, &client_, true},
  };
  for (const Case& one : cases) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsOptions options = Files();
      options.verify = one.verify;
      Serve(one.mode, options);
      TlsPeer peer(address(), one.identity, version);
      // A client of TLS 1.3 may speak before it learns that its certificate is not taken.
      const bool shaken = peer.ShakeHands() && peer.Send("in\n");
      EXPECT_EQ(shaken && peer.Receive(3) == "in\n", one.enters)
          << &one - cases << " " << peer.Version() << " " << peer.Reason();
      EXPECT_EQ(loops_->handler().lines, one.enters ? 1u : 0u);
      EXPECT_EQ(tls_->Stats().handshake_errors, one.enters ? 0u : 1u);
    }
  }
}

TEST_P(TlsLoopTest, VersionsBelowTheLeastAreRefused) {
  const int versions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION};
  for (uint8_t least = 0; least < 4; ++least) {
    TlsOptions options = Files();
    options.version_min = least;
    Serve(TlsMode::kAsSet, options);
    for (int most = 0; most < 4; ++most) {
      TlsPeer peer(address(), nullptr, versions[most]);
      EXPECT_EQ(peer.ShakeHands(), most >= least) << most << " " << int{least};
    }
  }
}

TEST_P(TlsLoopTest, PlainBytesEndTheConnection) {
  Serve();
  const std::string packet = "\x80" + std::string(23, '\0');
  for (const std::string& hello :
       {std::string("get a\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"), packet}) {
    Peer peer(address());
    ASSERT_TRUE(peer.Send(hello));
    const std::string alert = peer.Receive(7);
    EXPECT_TRUE(alert.empty() || alert[0] == 0x15) << alert;
  }
  EXPECT_TRUE(Eventually([&] { return loops_->handler().closed == 3; }));
  EXPECT_EQ(loops_->handler().lines, 0u);
}

TEST_P(TlsLoopTest, SpoiltRecordEndsTheSessionAlone) {
  Serve();
  TlsPeer well(address());
  ASSERT_TRUE(well.ShakeHands());
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  ASSERT_TRUE(peer.Send("before\n"));
  EXPECT_EQ(peer.Receive(7), "before\n");
  ASSERT_TRUE(peer.Seal("spoilt\n"));
  std::string sealed = peer.TakeSealed();
  sealed.back() = static_cast<char>(sealed.back() ^ 1);
  ASSERT_TRUE(peer.peer().Send(sealed));
  EXPECT_EQ(peer.Receive(7), "");
  EXPECT_TRUE(Eventually([&] { return loops_->handler().closed == 1; }));
  EXPECT_EQ(tls_->Stats().protocol_errors, 1u);
  ASSERT_TRUE(well.Send("well\n"));
  EXPECT_EQ(well.Receive(5), "well\n");
}

TEST_P(TlsLoopTest, EndInTheMiddleOfARecordOrAHandshakeHarmsNobody) {
  Serve();
  std::mt19937 random(base::TestSeed(5));
  for (int i = 0; i < 40; ++i) {
    TlsPeer peer(address());
    const bool opens = i % 2 == 0;
    ASSERT_TRUE(!opens || peer.ShakeHands());
    (void)peer.Seal("half of a record\n");  // before the handshake it makes the client's hello
    const std::string sealed = peer.TakeSealed();
    ASSERT_TRUE(peer.peer().Send(std::string_view(sealed).substr(0, random() % sealed.size())));
    i % 4 < 2 ? peer.peer().Close() : peer.peer().Reset();
  }
  EXPECT_TRUE(Eventually([&] { return loops_->handler().closed == 40; }));
  EXPECT_EQ(loops_->handler().lines, 0u);
  EXPECT_TRUE(Eventually([&] { return loops_->loop().Stats().buffer_bytes == 0; }));
}

TEST_P(TlsLoopTest, ReloadIsForNewConnectionsAndABadFileChangesNothing) {
  Serve();
  TlsPeer old(address());
  ASSERT_TRUE(old.ShakeHands());
  EXPECT_EQ(old.ServerSerial(), server_.Serial());
  const Identity next("next", &authority_);
  next.Write(folder_ / "server.pem");
  ASSERT_TRUE(tls_->Reload().ok());
  TlsPeer young(address());
  ASSERT_TRUE(young.ShakeHands());
  EXPECT_EQ(young.ServerSerial(), next.Serial());
  std::FILE* const file = std::fopen((folder_ / "server.pem").c_str(), "w");
  std::fclose(file);
  const Status status = tls_->Reload();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("Error loading the certificate chain: "));
  TlsPeer later(address());
  ASSERT_TRUE(later.ShakeHands());
  EXPECT_EQ(later.ServerSerial(), next.Serial());
  ASSERT_TRUE(old.Send("old\n"));
  EXPECT_EQ(old.Receive(4), "old\n");
}

// A session of a door that asks for no certificate is none at one that does.
TEST_P(TlsLoopTest, SessionsAreResumedOnlyAtListenersOfTheirKind) {
  TlsOptions options = Files();
  options.session_cache = true;
  Serve(TlsMode::kAnyone, options);
  // The same keys, another door.
  auto opened = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kCertified, {});
  LoopOptions loop;
  loop.tls = tls_.get();
  TestServer other(GetParam(), loop, 1, std::move(*opened));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsPeer first(address(), nullptr, version);
    ASSERT_TRUE(first.ShakeHands() && first.Send("1\n") && first.Receive(2) == "1\n");
    TlsPeer second(address(), nullptr, version);
    second.ResumeSessionOf(first);
    ASSERT_TRUE(second.ShakeHands());
    EXPECT_TRUE(second.resumed());
    TlsPeer third(other.address(), nullptr, version);
    third.ResumeSessionOf(first);
    EXPECT_FALSE(third.ShakeHands() && third.Send("in\n") && third.Receive(3) == "in\n");
    EXPECT_EQ(other.handler().lines, 0u);
  }
  EXPECT_GE(tls_->Stats().sessions, 1u);
}

TEST_P(TlsLoopTest, WithoutACacheNobodyResumes) {
  Serve();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsPeer first(address(), nullptr, version);
    ASSERT_TRUE(first.ShakeHands() && first.Send("x\n") && first.Receive(2) == "x\n");
    TlsPeer second(address(), nullptr, version);
    second.ResumeSessionOf(first);
    ASSERT_TRUE(second.ShakeHands());
    EXPECT_FALSE(second.resumed());
  }
}

// They are there before the loop takes its first turn.
TEST_P(TlsLoopTest, FewHandshakesAreAnsweredInATurn) {
  constexpr size_t kPeers = 40;
  auto made = TlsServer::Create(Files());
  ASSERT_TRUE(made.has_value());
  tls_ = std::move(*made);
  auto opened = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kAsSet, {.backlog = 4096});
  ASSERT_TRUE(opened.has_value());
  std::vector<std::unique_ptr<TlsPeer>> peers;
  for (size_t i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<TlsPeer>((*opened)[0]->address()));
    ASSERT_TRUE(peers.back()->SayHello());
  }
  LoopOptions options;
  options.tls = tls_.get();
  loops_ = std::make_unique<TestServer>(GetParam(), options, 1, std::move(*opened));
  for (auto& peer : peers) EXPECT_TRUE(peer->IsAnswered());
  EXPECT_GE(loops_->loop().Stats().turns, kPeers / 2);
  // The last message of a handshake may come with requests, and with the end.
  for (auto& peer : peers) {
    ASSERT_TRUE(peer->ShakeHands());
    ASSERT_TRUE(peer->Send("need 100000\n" + std::string(100'000, '\x01') + "one\n"));
    peer->peer().FinishSending();
  }
  for (auto& peer : peers) EXPECT_EQ(peer->Receive(18), "100000 100000\none\n");
  EXPECT_EQ(tls_->Stats().handshake_errors, 0u);
}

// OpenSSL would make room for all of it.
TEST_P(TlsLoopTest, LongFirstMessageIsRefusedByItsHead) {
  Serve();
  const std::string heads[] = {
      std::string("\x16\x03\x01\x40\x00\x01\x02\x00\x00", 9),
      std::string("\x16\x03\x01\x00\x01\x01\x16\x03\x01\x00\x01\x02\x16\x03\x01\x00\x02\x00\x00",
                  19)};
  uint64_t refused = 0;
  for (const std::string& head : heads) {
    Peer peer(address());
    for (const char byte : head) ASSERT_TRUE(peer.Send({&byte, 1}));
    EXPECT_TRUE(Eventually([&] { return loops_->handler().closed == refused + 1; }));
    EXPECT_EQ(tls_->Stats().handshake_errors, ++refused);
  }
}

TEST_P(TlsLoopTest, EndlessWishesForNewKeysEndTheSession) {
  Serve();
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  for (int i = 0; i < 100; ++i) {  // with data between them they are an honest peer's
    ASSERT_TRUE(peer.AskForKeys());
    ASSERT_TRUE(peer.Send("x\n"));
    ASSERT_EQ(peer.Receive(2), "x\n");
  }
  for (uint32_t i = 0; i <= TlsSession::kKeyUpdatesMax; ++i) ASSERT_TRUE(peer.AskForKeys());
  (void)peer.Flush();
  EXPECT_TRUE(Eventually([&] { return loops_->handler().closed == 1; }));
  EXPECT_EQ(tls_->Stats().protocol_errors, 1u);
}

// What is behind a request that ends the connection is not carried out, nor the former ones again.
TEST_P(TlsLoopTest, ClosingConnectionRunsNothingAgain) {
  Serve();
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  ASSERT_TRUE(peer.Send("big 4000000\nquit\n"));
  ASSERT_TRUE(Eventually([&] { return loops_->handler().lines == 2; }));
  for (int i = 0; i < 20; ++i) (void)peer.Send("more\n");
  EXPECT_EQ(peer.Receive(5'000'000).size(), 4'000'000u);
  EXPECT_EQ(loops_->handler().lines, 2u);
}

TEST_P(TlsLoopTest, WhoeverDoesNotShakeHandsIsClosedInTime) {
  LoopOptions options;
  options.clock_ms = StillClock;
  Serve(TlsMode::kAsSet, {}, options);
  TlsPeer well(address());
  ASSERT_TRUE(well.ShakeHands());
  Peer silent(address());
  ASSERT_TRUE(Eventually([&] { return loops_->handler().opened == 2; }));
  test_clock_ms += 8'000;
  for (int i = 0; i < 12; ++i) loops_->PassTick();
  EXPECT_EQ(loops_->handler().closed, 0u);
  for (int i = 0; i < 20; ++i) loops_->PassTick();
  EXPECT_TRUE(silent.SeesEnd());
  EXPECT_EQ(tls_->Stats().handshake_errors, 1u);
  ASSERT_TRUE(well.Send("well\n"));
  EXPECT_EQ(well.Receive(5), "well\n");
}

TEST_P(TlsLoopTest, StopLetsOwedRepliesOut) {
  Serve();
  TlsPeer peer(address());
  ASSERT_TRUE(peer.ShakeHands());
  ASSERT_TRUE(peer.Send("big 300000\n"));
  ASSERT_TRUE(Eventually([&] { return loops_->handler().lines == 1; }));
  std::thread reader([&] {
    EXPECT_EQ(peer.Receive(300'000).size(), 300'000u);
    EXPECT_TRUE(peer.SeesGoodbye());
  });
  loops_->Stop(10'000);
  reader.join();
}

TEST(Tls, WrongFilesAreNamed) {
  base::TestFolder folder;
  const Identity one("one"), other("other");
  one.Write(folder / "one.pem");
  other.Write(folder / "other.pem");
  TlsOptions options;
  const auto complaint = [&options] {
    auto made = TlsServer::Create(options);
    return made ? std::string("none") : std::string(made.error().message());
  };
  options.chain_path = folder / "none.pem";
  EXPECT_TRUE(complaint().starts_with("Error loading the certificate chain: " + options.chain_path +
                                      " : error:"))
      << complaint();
  options.chain_path = folder / "one.pem";
  EXPECT_EQ(complaint(), "none");
  options.key_path = folder / "other.pem";
  EXPECT_TRUE(complaint().starts_with("Error loading the key: ")) << complaint();
  options.key_path = folder / "one.pem";
  options.ca_path = folder / "none.pem";
  EXPECT_TRUE(complaint().starts_with("Error loading the CA certificate: ")) << complaint();
  options.ca_path.clear();
  options.ciphers = "no-such-cipher";
  EXPECT_EQ(complaint(), "Error setting the provided cipher(s): no-such-cipher");
  options.ciphers = "ECDHE+AESGCM:TLS_AES_128_GCM_SHA256";
  EXPECT_EQ(complaint(), "none");
}

}  // namespace
}  // namespace weft::net
