// What -v says about connections. Keys, values, users and passwords are in no line: whoever may
// read the log need not be one who may read the cache.
#include <spdlog/spdlog.h>

#include "server/process.h"
#include "server/worker.h"

namespace weft::server {

bool Worker::Logs() { return spdlog::should_log(spdlog::level::debug); }

void Worker::LogOpened(const net::Connection& connection) {
  spdlog::debug("{} connected, {}", connection.id(), connection.PeerText());
}

void Worker::LogClosed(const net::Connection& connection) const {
  spdlog::debug("{} closed after {} ms: {} bytes received, {} sent", connection.id(),
                loop_ == nullptr ? 0 : loop_->now_ms() - connection.opened_ms(),
                connection.bytes_in(), connection.bytes_out());
}

void Worker::OnTlsFailure(const net::Connection& connection, std::string_view why) {
  if (Logs()) spdlog::debug("{} is hung up on: TLS: {}", connection.id(), OneLine(why));
  if (options_.watch != nullptr) options_.watch->NoteTlsError(connection.fd(), why);
}

// `request` is one that only gets a text.
void Worker::LogRefused(const net::Connection& connection, const protocol::Request& request) {
  if (request.binary) {
    if (request.binary_words.status != 0)
      spdlog::debug("{} was refused: opcode {:02x}, status {:02x}", connection.id(),
                    request.binary_words.opcode, request.binary_words.status);
    return;
  }
  const std::string_view text = request.text;
  if (!text.starts_with("ERROR") && !text.starts_with("CLIENT_ERROR") &&
      !text.starts_with("SERVER_ERROR"))
    return;
  spdlog::debug("{} was refused: {}", connection.id(),
                OneLine(text.substr(0, text.find_first_of("\r\n"))));
}

void Worker::LogForeign(const net::Connection& connection, const Peer& peer) {
  const std::string_view input = connection.readable();
  const auto first = input.empty() ? 0u : static_cast<unsigned char>(input[0]);
  if (peer.dialect == protocol::Dialect::kBinary) {
    spdlog::debug("{} is hung up on: {:02x} begins no packet of the binary protocol",
                  connection.id(), first);
  } else if (first == 0x80) {
    spdlog::debug("{} is hung up on: it speaks the binary protocol where text is served",
                  connection.id());
  } else {
    spdlog::debug("{} is hung up on: it speaks TLS, HTTP or another protocol", connection.id());
  }
}

}  // namespace weft::server
