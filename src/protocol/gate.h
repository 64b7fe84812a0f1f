// protocol/gate.h: who may enter: what a connection must say before its commands are carried out.
//
// Its listener gives a connection its Terms when it is accepted, and no Terms can be made without a
// gate. No parser is reached but through Enter (protocol/batch_io.h), which asks the gate first.
// So nothing that a client sends before it has entered is carried out, nor what it sends behind
// that in one piece.
//
// Source    memcached 1.6.18 as observed for the token; its document of the binary protocol for
//           SASL; RFC 4616 for PLAIN.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/dialect.h"
#include "protocol/parse.h"

namespace weft::protocol {

enum class Gate : uint8_t {
  kOpen,   // nothing
  kToken,  // text: a `set` whose value is "user password" (memcached's -Y)
  kSasl,   // binary: SASL's PLAIN (memcached's -S)
};

// What a listener promises its connections.
class Terms {
 public:
  // Whoever must enter speaks the gate's protocol, whatever `dialect` says.
  constexpr Terms(Dialect dialect, Gate gate)
      : dialect_(gate == Gate::kOpen    ? dialect
                 : gate == Gate::kToken ? Dialect::kText
                                        : Dialect::kBinary),
        gate_(gate) {}
  constexpr Dialect dialect() const { return dialect_; }
  constexpr Gate gate() const { return gate_; }

 private:
  Dialect dialect_;
  Gate gate_;
};

// Longer ones are refused, and the connection ends: who sends them is no client.
inline constexpr uint32_t kTokenBytesMax = 16384;

// Takes what a client of text sends before it has entered: a token, or anything that is refused.
// Otherwise as Parse.
ParseResult ParseToken(std::string_view input, const ParseContext& context, Request* request);

// Of a request of kind kLogin.
struct Credentials {
  std::string_view user;
  std::string_view password;
};
// False: it has none.
bool CredentialsOf(const Request& request, Credentials* credentials);

inline constexpr std::string_view kEnteredText = "STORED\r\n";
inline constexpr std::string_view kNotEnteredText = "CLIENT_ERROR authentication failure\r\n";

}  // namespace weft::protocol
