// -Z, and what goes with it.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/options_test_kit.h"

namespace weft::server {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(TlsOptions, TlsIsTakenWhole) {
  const ServerOptions options = Accepted(
      {"-Z", "-o",
       "ssl_chain_cert=c,ssl_key=k,ssl_keyformat=2,ssl_verify_mode=2,ssl_ca_cert=a,ssl_ciphers=x:y",
       "-o", "ssl_wbuf_size=64,ssl_session_cache,ssl_min_version=3", "-l",
       "127.0.0.1,notls:127.0.0.2,tag[t]:btls:127.0.0.3,mtls:proto[ascii]:127.0.0.4"});
  ASSERT_TRUE(options.tls.has_value());
  const net::TlsOptions& tls = *options.tls;
  EXPECT_EQ(tls.chain_path + tls.key_path + tls.ca_path + tls.ciphers, "ckax:y");
  EXPECT_EQ(tls.key_form, net::TlsOptions::KeyForm::kDer);
  EXPECT_EQ(tls.verify, net::TlsOptions::Verify::kRequire);
  EXPECT_EQ(tls.write_bytes, 65536u);
  EXPECT_TRUE(tls.session_cache);
  EXPECT_EQ(tls.version_min, 3);
  ASSERT_EQ(options.tcp.size(), 4u);
  EXPECT_EQ(options.tcp[0].tls, net::TlsMode::kAsSet);
  EXPECT_EQ(options.tcp[1].tls, net::TlsMode::kNone);
  EXPECT_EQ(options.tcp[2].tls, net::TlsMode::kAnyone);
  EXPECT_EQ(options.tcp[3].tls, net::TlsMode::kCertified);
  EXPECT_EQ(options.tcp[3].dialect, protocol::Dialect::kText);
}

// Serving plainly, or letting everybody in, would be worse than not to serve.
TEST(TlsOptions, WhatTlsLacksIsSaid) {
  EXPECT_THAT(Complaint({"-Z"}), HasSubstr("-Z needs a certificate"));
  EXPECT_THAT(Complaint({"-l", "mtls:127.0.0.1"}), HasSubstr("btls: and mtls: need -Z"));
  EXPECT_THAT(Complaint({"-Z", "-o", "ssl_chain_cert=c", "-l", "mtls:127.0.0.1"}),
              HasSubstr("mtls: needs ssl_ca_cert"));
  EXPECT_THAT(Complaint({"-Z", "-o", "ssl_chain_cert=c,ssl_verify_mode=1"}),
              HasSubstr("ssl_verify_mode needs ssl_ca_cert"));
  for (const char* const bad : {"ssl_verify_mode=4", "ssl_min_version=4", "ssl_min_version=tlsv1.4",
                                "ssl_keyformat=ENGINE", "ssl_wbuf_size=0", "ssl_wbuf_size=16385"})
    EXPECT_THAT(Complaint({"-Z", "-o", bad}), HasSubstr(std::string(bad).substr(0, 8)));
  Result<ParsedOptions> parsed = ParseOptions({"-o", "ssl_key=k"});
  ASSERT_TRUE(parsed.has_value());
  EXPECT_FALSE(parsed->server.tls.has_value());
  ASSERT_THAT(parsed->notes, SizeIs(1));
  EXPECT_THAT(parsed->notes[0], HasSubstr("-Z was not given"));
}

}  // namespace
}  // namespace weft::server
