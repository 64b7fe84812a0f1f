#include "bench/trace/byte_source.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace weft::bench {
namespace {

constexpr size_t kInputBytes = size_t{64} << 10;

}  // namespace

ByteSource::ByteSource(std::string path, base::Fd fd, uint64_t file_bytes)
    : path_(std::move(path)),
      file_bytes_(file_bytes),
      fd_(std::move(fd)),
      input_(kInputBytes),
      buffer_(2 * kAheadBytesMax) {}

Result<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  auto fd = base::OpenToRead(path, true);
  if (!fd) return fd.error();
  auto bytes = base::SizeOfFd(*fd, path);
  if (!bytes) return bytes.error();
  std::unique_ptr<ByteSource> source(new ByteSource(path, std::move(*fd), *bytes));
  if (Status status = source->ReadInput(); !status.ok()) return status;
  source->compression_ = CompressionOf({source->input_.data(), source->input_end_});
  auto decoder = MakeDecoder(source->compression_);
  if (!decoder) {
    return Status(decoder.error().code(), fmt::format("{}: {}", path, decoder.error().message()));
  }
  source->decoder_ = std::move(*decoder);
  return source;
}

std::optional<uint64_t> ByteSource::BytesLeft() const {
  if (has_ended_) return end_ - begin_;
  if (compression_ != Compression::kNone || file_bytes_ < input_taken_) return std::nullopt;
  return file_bytes_ - input_taken_ + (end_ - begin_);
}

Status ByteSource::ReadInput() {
  auto bytes = base::ReadUpTo(fd_, path_, input_.data(), input_.size());
  if (!bytes) return bytes.error();
  input_begin_ = 0;
  input_end_ = *bytes;
  input_has_ended_ = *bytes < input_.size();
  return Status::Ok();
}

Status ByteSource::ErrorAtByte(const Status& error) const {
  return {error.code(), fmt::format("{}: byte {}: {}", path_, input_taken_, error.message())};
}

// Sets has_ended_ or error_ where nothing more comes.
void ByteSource::Step() {
  if (input_begin_ == input_end_ && !input_has_ended_) {
    error_ = ReadInput();
    if (!error_.ok()) return;
  }
  const std::string_view in(input_.data() + input_begin_, input_end_ - input_begin_);
  const DecodeStep step =
      decoder_->Decode(in, input_has_ended_, {buffer_.data() + end_, buffer_.size() - end_});
  input_begin_ += step.taken;
  input_taken_ += step.taken;
  end_ += step.made;
  if (!step.status.ok()) {
    error_ = ErrorAtByte(step.status);
  } else if (step.taken == 0 && step.made == 0) {
    const bool all_is_taken = in.empty() && input_has_ended_;
    has_ended_ = all_is_taken && step.is_between;
    if (has_ended_) return;
    error_ =
        ErrorAtByte({Code::kCorruption, all_is_taken ? "the compressed data end early"
                                                     : "the compressed data make no progress"});
  }
}

Result<std::string_view> ByteSource::Refill(size_t bytes) {
  WEFT_CHECK(bytes <= kAheadBytesMax);
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  while (end_ < buffer_.size() && !has_ended_ && error_.ok()) Step();
  if (ready().size() < bytes && !error_.ok()) return error_;
  return ready();
}

}  // namespace weft::bench
