#include "net/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace weft::net {

std::string TakeTlsReason() {
  const unsigned long code = ERR_get_error();  // the first: later ones are its consequences
  std::string reason = "no reason is known";
  if (code != 0) {
    char text[256];
    ERR_error_string_n(code, text, sizeof text);
    reason = text;
  }
  ERR_clear_error();
  return reason;
}

// The road between OpenSSL and the loop: it reads what was fed, and writes behind the wire.
const BIO_METHOD* TlsSession::Road() {
  // Never destroyed: threads may outlive main.
  static const BIO_METHOD* const road = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "loop");
    WEFT_CHECK(made != nullptr);
    BIO_meth_set_read_ex(made, RoadRead);
    BIO_meth_set_write_ex(made, RoadWrite);
    BIO_meth_set_ctrl(made, RoadControl);
    return made;
  }();
  return road;
}

int TlsSession::RoadRead(BIO* bio, char* space, size_t bytes, size_t* moved) {
  auto* const session = static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (session->key_updates_ > kKeyUpdatesMax) return 0;
  const size_t n = std::min(bytes, session->sealed_.size());
  if (n == 0) {
    BIO_set_retry_read(bio);
    return 0;
  }
  std::memcpy(space, session->sealed_.data(), n);
  session->sealed_.remove_prefix(n);
  *moved = n;
  return 1;
}

int TlsSession::RoadWrite(BIO* bio, const char* bytes, size_t count, size_t* moved) {
  auto* const session = static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  session->has_answered_ = true;
  char* const space = session->wire_.Reserve(count, *session->arena_, *session->pool_);
  if (space == nullptr) {
    session->no_memory_ = true;
    return 0;
  }
  std::memcpy(space, bytes, count);
  session->wire_.Commit(count, *session->arena_);
  *moved = count;
  return 1;
}

// Told of each message about the session itself.
void TlsSession::OnMessage(int is_written, int, int type, const void* bytes, size_t count, SSL*,
                           void* session) {
  if (is_written != 0 || type != SSL3_RT_HANDSHAKE || count == 0) return;
  if (*static_cast<const unsigned char*>(bytes) == SSL3_MT_KEY_UPDATE)
    static_cast<TlsSession*>(session)->key_updates_++;
}

long TlsSession::RoadControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

std::unique_ptr<TlsSession> TlsSession::Create(SslPtr ssl, OutputArena* arena, BufferPool* pool) {
  if (ssl == nullptr) return nullptr;
  auto session = std::unique_ptr<TlsSession>(new TlsSession(arena, pool));
  BIO* const road = BIO_new(Road());
  if (road == nullptr) return nullptr;
  BIO_set_data(road, session.get());
  BIO_set_init(road, 1);
  SSL_set_bio(ssl.get(), road, road);  // which owns it
  SSL_set_accept_state(ssl.get());
  SSL_set_msg_callback(ssl.get(), OnMessage);
  SSL_set_msg_callback_arg(ssl.get(), session.get());
  session->ssl_ = std::move(ssl);
  return session;
}

// Follows the client's first message, whose records may be cut anywhere, up to its length.
bool TlsSession::IsHelloTooLong(std::string_view sealed) {
  constexpr unsigned char kHandshakeRecord = 22;
  for (const char byte : sealed) {
    if (hello_head_bytes_ == sizeof hello_head_) break;
    if (record_left_ == 0) {
      record_head_[record_head_bytes_++] = static_cast<unsigned char>(byte);
      if (record_head_bytes_ < sizeof record_head_) continue;
      record_head_bytes_ = 0;
      if (record_head_[0] != kHandshakeRecord) return false;  // OpenSSL says what is wrong
      record_left_ = uint32_t{record_head_[3]} << 8 | record_head_[4];
      continue;
    }
    record_left_--;
    hello_head_[hello_head_bytes_++] = static_cast<unsigned char>(byte);
  }
  const uint32_t bytes =
      uint32_t{hello_head_[1]} << 16 | uint32_t{hello_head_[2]} << 8 | hello_head_[3];
  return hello_head_bytes_ == sizeof hello_head_ && bytes > kHelloBytesMax;
}

void TlsSession::Feed(std::string_view sealed) {
  sealed_ = sealed;
  if (has_answered_ || failed_ || !IsHelloTooLong(sealed)) return;
  Fail();
  failure_ = "the client's first message is too long";
}

void TlsSession::Fail() {
  failed_ = true;
  failure_ = no_memory_                      ? "the system has no memory"
             : key_updates_ > kKeyUpdatesMax ? "it asks for new keys again and again"
                                             : TakeTlsReason();
  sealed_ = {};
  waiting_ = {};
}

TlsSession::Outcome TlsSession::OutcomeOf(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE: return Outcome::kMoved;
    case SSL_ERROR_WANT_READ: return Outcome::kWants;
    case SSL_ERROR_ZERO_RETURN: sealed_ = {}; return Outcome::kEnd;
    default: Fail(); return Outcome::kFailed;
  }
}

TlsSession::Outcome TlsSession::Read(char* space, size_t bytes, size_t* moved) {
  *moved = 0;
  if (failed_) return Outcome::kFailed;
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_.get(), space, bytes, moved);
  open_ = open_ || SSL_is_init_finished(ssl_.get()) != 0;  // for a failure undoes that
  if (*moved != 0) key_updates_ = 0;
  return OutcomeOf(result);
}

TlsSession::Outcome TlsSession::Write(std::string_view plain, size_t* moved) {
  *moved = 0;
  if (failed_) return Outcome::kFailed;
  ERR_clear_error();
  const size_t bytes = std::min(plain.size(), kRecordBytes);
  return OutcomeOf(SSL_write_ex(ssl_.get(), plain.data(), bytes, moved));
}

void TlsSession::SayGoodbye() {
  if (failed_ || !is_open()) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

}  // namespace weft::net
