// bench/target/stream.h: the connection of a session: requests gathered and sent in one system
// call, replies received into one buffer, where the parser leaves them.
//
//     stream.Text(200)  ...  stream.Wrote(n)      a request's text, written in place
//     stream.Body(value)                          bytes that lie elsewhere and stay there
//     stream.Flush()                              sends what it can; the rest when writable
//     stream.Receive()  stream.bytes()  stream.Consume(n)
//
// Layout    text is kept in one array; a long body is a separate piece in the list that sendmsg
//           takes; a short one is copied into the text, which costs less than a piece does.
//           Through TLS each piece is a send of its own.
// Units     bytes.
// Threads   one owner.
// Errors    kIoError: the connection is closed or broken, for good.
// Cost      one system call each way; no allocation once the buffers have grown.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/posix_fd.h"
#include "bench/harness/address.h"
#include "bench/target/tls_identity.h"
#include "net/tls_client.h"
#include "weft/status.h"

namespace weft::bench {

// Ends a line, in the text of every server.
inline constexpr std::string_view kLineEnd = "\r\n";
// The most keys in one request.
inline constexpr size_t kMultiGetMax = 100;

// Writes text where there is room for it. Returns its end.
inline char* Put(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

class Stream {
 public:
  // `tls`: null where the bytes travel as they are.
  static Result<std::unique_ptr<Stream>> Open(const Address& address,
                                              const TlsIdentity* tls = nullptr);
  // Takes a connected socket over.
  explicit Stream(base::Fd fd, std::unique_ptr<net::TlsClient> tls = nullptr);

  int fd() const { return fd_.get(); }

  // Where text of up to `bytes` can be written; Wrote says how much it was.
  char* Text(size_t bytes) {
    if (!wants_to_write()) BeginText();
    if (text_.size() - text_end_ < bytes) GrowText(bytes);
    return text_.data() + text_end_;
  }
  void Wrote(size_t bytes) { text_end_ += bytes; }
  // REQUIRES: `body` stays as it is until it is sent
  void Body(std::string_view body);
  // Sends as much as the socket takes.
  Status Flush();
  bool wants_to_write() const { return piece_ < pieces_.size() || text_end_ > text_cut_; }

  // Reads once. False: nothing was there (any more). `whole`: bytes of the reply whose beginning
  // is in bytes(), where known, so that it finds room in one piece.
  Result<bool> Receive(size_t whole = 0);
  std::string_view bytes() const { return {in_.get() + in_begin_, in_end_ - in_begin_}; }
  void Consume(size_t bytes) { in_begin_ += bytes; }

 private:
  struct Piece {
    const char* outside;  // nullptr: in text_
    size_t at;            // in text_
    size_t bytes;
  };
  void BeginText();
  void GrowText(size_t bytes);
  void CutText();
  size_t Gather(iovec* parts) const;
  ssize_t SendPieces();
  void Sent(size_t bytes);
  void DropSent();
  void MakeRoom(size_t whole);

  const base::Fd fd_;
  const std::unique_ptr<net::TlsClient> tls_;

  // What remains to send: pieces_[piece_] on, of which sent_of_piece_ bytes are out, and then the
  // text from text_cut_ on.
  std::vector<char> text_;
  size_t text_end_ = 0;
  size_t text_cut_ = 0;
  std::vector<Piece> pieces_;
  size_t piece_ = 0;
  size_t sent_of_piece_ = 0;

  std::unique_ptr<char[]> in_;
  size_t in_room_;
  size_t in_begin_ = 0;
  size_t in_end_ = 0;
  bool drained_ = false;  // the last read left room: the socket was empty
};

}  // namespace weft::bench
