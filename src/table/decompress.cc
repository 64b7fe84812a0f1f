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
    return Status(Code::kNoMemory, "no room for a block of " + std::to_string(size) + " bytes");
  }
  return room;
}

Result<Decompressed> OpenSnappy(std::string_view stored) {
  size_t size;
  if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &size) ||
      !Believable(size, stored.size(), kSnappyGainMax)) {
    return Status(Code::kCorruption, "bad length of Snappy data");
  }
  Result<Decompressed> room = Allocate(size);
  if (!room) return room;
  if (!snappy::RawUncompress(stored.data(), stored.size(), room->bytes.get())) {
    return Status(Code::kCorruption, "bad Snappy data");
  }
  return room;
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Result<Decompressed> OpenZstd(std::string_view stored) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) return Status(Code::kNoMemory, "no room for Zstd's working memory");
  // Unknown and error are the two largest numbers, so that they are not believed either.
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (!Believable(size, stored.size(), kZstdGainMax)) {
    return Status(Code::kCorruption, "bad length of Zstd data");
  }
  Result<Decompressed> room = Allocate(size);
  if (!room) return room;
  const size_t got =
      ZSTD_decompressDCtx(context.get(), room->bytes.get(), size, stored.data(), stored.size());
  if (got != size) return Status(Code::kCorruption, "bad Zstd data");
  return room;
}

}  // namespace

Result<Decompressed> Decompress(Compression type, std::string_view stored) {
  switch (type) {
    case Compression::kSnappy: return OpenSnappy(stored);
    case Compression::kZstd: return OpenZstd(stored);
    case Compression::kNone: break;
  }
  return Status(Code::kUnsupported,
                "unknown compression " + std::to_string(static_cast<unsigned>(type)));
}

}  // namespace weft::table
