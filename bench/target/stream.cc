#include "bench/target/stream.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::bench {
namespace {

constexpr size_t kTextBytes = 64u << 10;
constexpr size_t kReceiveBytes = 64u << 10;
constexpr size_t kCopyBytesMax = 1024;  // what is longer is sent from where it lies
constexpr size_t kPartsMax = 256;       // a sendmsg; the system takes 1,024
constexpr size_t kSentPiecesMax = 1024;

}  // namespace

Result<std::unique_ptr<Stream>> Stream::Open(const Address& address, const TlsIdentity* tls) {
  auto fd = Connect(address);
  if (!fd) return fd.error();
  if (tls == nullptr) return std::make_unique<Stream>(std::move(*fd));
  auto line = tls->Connect(fd->get());
  if (!line) return line.error();
  return std::make_unique<Stream>(std::move(*fd), std::move(*line));
}

Stream::Stream(base::Fd fd, std::unique_ptr<net::TlsClient> tls)
    : fd_(std::move(fd)),
      tls_(std::move(tls)),
      text_(kTextBytes),
      in_(std::make_unique_for_overwrite<char[]>(kReceiveBytes)),
      in_room_(kReceiveBytes) {
  fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
}

// All has been sent.
void Stream::BeginText() {
  text_end_ = text_cut_ = piece_ = 0;
  pieces_.clear();
}

void Stream::GrowText(size_t bytes) { text_.resize(std::max(text_.size() * 2, text_end_ + bytes)); }

// Makes a piece of the text that is in none yet.
void Stream::CutText() {
  if (text_end_ == text_cut_) return;
  pieces_.push_back({nullptr, text_cut_, text_end_ - text_cut_});
  text_cut_ = text_end_;
}

void Stream::Body(std::string_view body) {
  if (body.size() <= kCopyBytesMax) {
    std::memcpy(Text(body.size()), body.data(), body.size());
    return Wrote(body.size());
  }
  CutText();
  pieces_.push_back({body.data(), 0, body.size()});
}

size_t Stream::Gather(iovec* parts) const {
  const size_t count = std::min(pieces_.size() - piece_, kPartsMax);
  for (size_t i = 0; i < count; ++i) {
    const Piece& piece = pieces_[piece_ + i];
    const char* bytes = piece.outside != nullptr ? piece.outside : text_.data() + piece.at;
    const size_t sent = i == 0 ? sent_of_piece_ : 0;
    parts[i] = {const_cast<char*>(bytes + sent), piece.bytes - sent};
  }
  return count;
}

void Stream::Sent(size_t bytes) {
  while (bytes > 0) {
    const size_t left = pieces_[piece_].bytes - sent_of_piece_;
    if (bytes < left) {
      sent_of_piece_ += bytes;
      return;
    }
    bytes -= left;
    sent_of_piece_ = 0;
    ++piece_;
  }
}

// A session that is never done with sending must not keep what it has sent.
void Stream::DropSent() {
  const auto text = std::find_if(pieces_.begin() + static_cast<ptrdiff_t>(piece_), pieces_.end(),
                                 [](const Piece& piece) { return piece.outside == nullptr; });
  const size_t sent = text == pieces_.end() ? text_cut_ : text->at;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(piece_));
  piece_ = 0;
  std::memmove(text_.data(), text_.data() + sent, text_end_ - sent);
  for (Piece& piece : pieces_) piece.at -= piece.outside == nullptr ? sent : 0;
  text_end_ -= sent;
  text_cut_ -= sent;
}

// Some of the pieces that are left, in one call.
ssize_t Stream::SendPieces() {
  iovec parts[kPartsMax];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = Gather(parts);
  if (tls_ != nullptr)
    return tls_->Send(static_cast<const char*>(parts[0].iov_base), parts[0].iov_len);
  // Most rounds are one piece, for which send costs the system less.
  return message.msg_iovlen == 1
             ? send(fd_.get(), parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL)
             : sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
}

Status Stream::Flush() {
  CutText();
  while (piece_ < pieces_.size()) {
    const ssize_t sent = SendPieces();
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      if (piece_ > kSentPiecesMax) DropSent();
      return Status::Ok();
    }
    if (sent < 0) return Status::FromErrno("send to the server", errno);
    Sent(static_cast<size_t>(sent));
  }
  return Status::Ok();
}

// Has room for `whole` bytes from in_begin_ on, and for a good read behind what is held.
void Stream::MakeRoom(size_t whole) {
  const size_t held = in_end_ - in_begin_;
  const size_t wanted = std::max(whole, held + kReceiveBytes / 2);
  if (in_room_ - in_begin_ >= wanted) return;
  if (wanted > in_room_) {
    in_room_ = std::max(in_room_ * 2, wanted);
    auto wider = std::make_unique_for_overwrite<char[]>(in_room_);
    std::memcpy(wider.get(), in_.get() + in_begin_, held);
    in_ = std::move(wider);
  } else {
    std::memmove(in_.get(), in_.get() + in_begin_, held);
  }
  in_begin_ = 0;
  in_end_ = held;
}

Result<bool> Stream::Receive(size_t whole) {
  if (drained_) {
    drained_ = false;
    return false;
  }
  if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
  MakeRoom(whole);
  ssize_t got;
  do {
    got = tls_ != nullptr ? tls_->Receive(in_.get() + in_end_, in_room_ - in_end_)
                          : recv(fd_.get(), in_.get() + in_end_, in_room_ - in_end_, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return false;
  if (got < 0) return Status::FromErrno("receive from the server", errno);
  if (got == 0) return Status(Code::kIoError, "the server closed the connection");
  in_end_ += static_cast<size_t>(got);
  drained_ = in_end_ < in_room_ && tls_ == nullptr;  // records come one at a time
  return true;
}

}  // namespace weft::bench
