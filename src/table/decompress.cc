#include "table/decompress.h"

#include <snappy.h>
#include <zstd.h>

#include <cstdint>
#include <new>
#include <utility>

namespace weft::table {

namespace {

// Offsets within a block are 32 bits wide.
constexpr uint64_t kBlockBytesMax = 0xffffffffu;
// A Snappy element of three bytes gives at most 64; a Zstd block of four at most 128 KiB.
constexpr uint64_t kSnappyGainMax = 22;
constexpr uint64_t kZstdGainMax = 32 << 10;

bool Believable(uint64_t claimed, size_t stored, uint64_t gain_max) {
  return claimed <= kBlockBytesMax && claimed / gain_max <= stored;
}

// Without initialising, and without dying where a damaged length asks for too much.
Result<Decompressed> Allocate(size_t size) {
  Decompressed room;
  room.bytes.reset(new (std::nothrow) char[size == 0 ? 1 : size]);  // freed by the pointer
  room.size = size;
  if (room.bytes == nullptr) {
    return Status(Code::kNoMemory, "no memory for a block of " + std::to_string(size) + " bytes");
  }
  return room;
}

Result<size_t> SnappyBytes(std::string_view stored) {
  size_t size;
  if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &size) ||
      !Believable(size, stored.size(), kSnappyGainMax)) {
    return Status(Code::kCorruption, "bad length in Snappy data");
  }
  return size;
}

Status OpenSnappy(std::string_view stored, char* to) {
  if (snappy::RawUncompress(stored.data(), stored.size(), to)) return Status::Ok();
  return {Code::kCorruption, "bad Snappy data"};
}

Result<size_t> ZstdBytes(std::string_view stored) {
  // Unknown and error are the two largest numbers, so that they are not believed either.
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (!Believable(size, stored.size(), kZstdGainMax)) {
    return Status(Code::kCorruption, "bad length in Zstd data");
  }
  return static_cast<size_t>(size);
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Status OpenZstd(std::string_view stored, char* to, size_t bytes) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) return {Code::kNoMemory, "no memory for Zstd's working area"};
  const size_t got = ZSTD_decompressDCtx(context.get(), to, bytes, stored.data(), stored.size());
  return got == bytes ? Status::Ok() : Status(Code::kCorruption, "bad Zstd data");
}

Status Unknown(Compression type) {
  return {Code::kUnsupported, "unknown compression " + std::to_string(static_cast<unsigned>(type))};
}

}  // namespace

Result<size_t> DecompressedBytes(Compression type, std::string_view stored) {
  switch (type) {
    case Compression::kSnappy: return SnappyBytes(stored);
    case Compression::kZstd: return ZstdBytes(stored);
    case Compression::kNone: break;
  }
  return Unknown(type);
}

Status DecompressTo(Compression type, std::string_view stored, char* to, size_t bytes) {
  switch (type) {
    case Compression::kSnappy: return OpenSnappy(stored, to);
    case Compression::kZstd: return OpenZstd(stored, to, bytes);
    case Compression::kNone: break;
  }
  return Unknown(type);
}

Result<Decompressed> Decompress(Compression type, std::string_view stored) {
  Result<size_t> bytes = DecompressedBytes(type, stored);
  if (!bytes) return bytes.error();
  Result<Decompressed> room = Allocate(*bytes);
  if (!room) return room;
  Status status = DecompressTo(type, stored, room->bytes.get(), *bytes);
  if (!status.ok()) return status;
  return room;
}

}  // namespace weft::table
