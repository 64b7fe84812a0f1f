// What a loop does for connections whose bytes are sealed: it opens what it has received before
// anything else looks at it, and seals replies when they are to be sent. So a handler never sees
// TLS, and what it takes back (Connection::TakeBack) was not sealed yet.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/loop_core.h"
#include "net/tls.h"
#include "net/tls_session.h"

namespace weft::net {
namespace {

// A handshake costs as much as a thousand requests, most of it for the first answer. Between two of
// these the others have a turn.
constexpr int kHandshakeStepsPerTurn = 2;
constexpr uint64_t kHandshakeMsMax = 10'000;

}  // namespace

bool LoopCore::BeginTls(Connection& connection, TlsMode mode) {
  if (options_.tls == nullptr) return false;  // nobody may speak plainly here
  connection.tls_ = TlsSession::Create(options_.tls->NewSession(mode), &arena_, &pool_);
  if (connection.tls_ == nullptr) return false;
  connection.wire_ = &connection.tls_->wire();
  return true;
}

void LoopCore::EndTls(Connection& connection) {
  if (connection.tls_->waiting().size() > 0)
    handshakes_.erase(std::remove(handshakes_.begin(), handshakes_.end(), &connection),
                      handshakes_.end());
  if (!connection.doomed_ && connection.wire_->empty()) {
    connection.tls_->SayGoodbye();
    // Little enough for any socket; and a peer that hears nothing learns it from the stream's end.
    iovec piece;
    if (connection.wire_->Gather(&piece, 1) == 1)
      (void)!send(connection.fd_, piece.iov_base, piece.iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  connection.wire_->Clear(pool_);
  connection.wire_ = &connection.output_;
  connection.tls_.reset();
}

// --- receiving -------------------------------------------------------------------------------

ssize_t LoopCore::ReceiveSealed(Connection& connection, size_t asked) {
  if (sealed_ == nullptr) sealed_ = std::make_unique_for_overwrite<char[]>(options_.take_bytes_max);
  asked = std::min(asked, options_.take_bytes_max);
  const ssize_t n = recv(connection.fd_, sealed_.get(), asked, MSG_DONTWAIT);
  if (n > 0) {
    Unseal(connection, {sealed_.get(), static_cast<size_t>(n)});
    ShowPartial(connection);
  }
  return n;
}

// False: others are answered in this turn, and the bytes wait for one of the next.
bool LoopCore::MayShakeHands(Connection& connection, std::string_view sealed) {
  if (connection.tls_->has_answered()) return true;
  std::string& waiting = connection.tls_->waiting();
  if (handshake_steps_left_ > 0 && handshakes_.empty()) {
    --handshake_steps_left_;
    return true;
  }
  if (waiting.size() + sealed.size() > TlsSession::kUnansweredBytesMax) {
    FailHandshake(connection, "it sends more than one message unanswered");
    return false;
  }
  if (waiting.empty()) handshakes_.push_back(&connection);
  waiting += sealed;
  return false;
}

void LoopCore::GoOnWithHandshakes() {
  handshake_steps_left_ = kHandshakeStepsPerTurn;
  while (handshake_steps_left_ > 0 && !handshakes_.empty()) {
    Connection& connection = *handshakes_.front();
    handshakes_.pop_front();
    --handshake_steps_left_;
    const std::string sealed = std::exchange(connection.tls_->waiting(), {});
    OpenRecords(connection, sealed);
    ShowPartial(connection);
    Deliver(connection);
  }
}

void LoopCore::Unseal(Connection& connection, std::string_view sealed) {
  if (connection.closing_) return;
  if (connection.tls_->is_open() || MayShakeHands(connection, sealed))
    OpenRecords(connection, sealed);
}

// Opens all records that are whole. The plain bytes are kept with the connection, as those of half
// a request are: records of several connections never lie in one buffer.
void LoopCore::OpenRecords(Connection& connection, std::string_view sealed) {
  TlsSession& tls = *connection.tls_;
  PartialInput& partial = connection.partial_;
  char record[TlsSession::kRecordBytes];
  tls.Feed(sealed);
  while (true) {
    // Large values go to their place without a stop.
    const size_t expected = connection.expected_bytes_;
    const bool large = expected >= partial.size() + sizeof record && tls.fed() >= sizeof record;
    char* const space = large ? partial.Room(pool_, sizeof record, expected) : record;
    size_t n = 0;
    const TlsSession::Outcome outcome =
        space == nullptr ? TlsSession::Outcome::kFailed : tls.Read(space, sizeof record, &n);
    const bool kept = large || n == 0 || partial.Append(pool_, {record, n}, expected);
    if (large) partial.Added(n);
    if (space == nullptr || !kept) {
      connection.doomed_ = true;
      return;
    }
    connection.bytes_in_.Add(n);
    bytes_in_.Add(n);
    if (outcome == TlsSession::Outcome::kMoved && tls.MayHaveMore()) continue;
    if (outcome == TlsSession::Outcome::kEnd) connection.at_end_ = true;
    if (outcome == TlsSession::Outcome::kFailed) FailTls(connection);
    break;
  }
  if (partial.size() == 0) partial.Release(pool_);
  CountInput(connection);
  Touch(connection);  // whatever the handshake has to say
}

// The peer is told why, if it can be, and nothing else.
void LoopCore::FailTls(Connection& connection) {
  TlsSession& tls = *connection.tls_;
  tls.is_open() ? options_.tls->CountProtocolError() : options_.tls->CountHandshakeError();
  handler_->OnTlsFailure(connection, tls.failure());
  connection.partial_.Release(pool_);
  connection.output_.Clear(pool_);
  connection.closing_ = true;
  Touch(connection);
}

// --- sending ---------------------------------------------------------------------------------

void LoopCore::Seal(Connection& connection) {
  TlsSession& tls = *connection.tls_;
  OutputQueue& plain = connection.output_;
  const size_t most = options_.tls->options().write_bytes;
  iovec piece;
  while (tls.is_open() && connection.wire_->size() < most && plain.Gather(&piece, 1) == 1) {
    size_t n = 0;
    const std::string_view bytes(static_cast<const char*>(piece.iov_base), piece.iov_len);
    const TlsSession::Outcome outcome = tls.Write(bytes, &n);
    if (outcome == TlsSession::Outcome::kFailed) return FailTls(connection);
    if (outcome != TlsSession::Outcome::kMoved) break;  // the rest of a message must come first
    plain.Advance(n, pool_);
    connection.bytes_out_.Add(n);
    bytes_out_.Add(n);
  }
  // The arena starts anew once this turn's output is out, and this is not.
  if (!plain.empty() && !plain.KeepUnsent(pool_)) connection.doomed_ = true;
}

// --- watching --------------------------------------------------------------------------------

void LoopCore::EndSlowHandshake(Connection& connection) {
  if (connection.tls_ == nullptr || connection.tls_->is_open() || connection.closing_) return;
  if (!connection.tls_->waiting().empty()) return;  // for us
  if (now_ms_ - std::min(now_ms_, connection.opened_ms_) < kHandshakeMsMax) return;
  FailHandshake(connection, "the handshake took too long");
}

void LoopCore::FailHandshake(Connection& connection, std::string_view why) {
  options_.tls->CountHandshakeError();
  handler_->OnTlsFailure(connection, why);
  connection.doomed_ = true;
  Touch(connection);
}

}  // namespace weft::net
