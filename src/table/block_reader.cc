#include "table/block_reader.h"

#include <new>

#include "base/coding.h"
#include "base/crc32c.h"
#include "table/decompress.h"

namespace weft::table {

namespace {

// The stored bytes with their trailer.
Result<BlockContents> ReadStored(const BlockFile& from, const BlockHandle& handle) {
  const uint64_t size = from.bytes;
  if (size < kBlockTrailerBytes || handle.bytes > size - kBlockTrailerBytes ||
      handle.offset > size - kBlockTrailerBytes - handle.bytes) {
    return BlockCorruption(from, handle.offset, "lies outside the file");
  }
  const size_t wanted = handle.bytes + kBlockTrailerBytes;
  BlockContents stored;
  if (!from.mapped.empty()) {
    stored.data = from.mapped.substr(handle.offset, wanted);
  } else {
    stored.owned.reset(new (std::nothrow) char[wanted]);  // freed by the pointer
    if (stored.owned == nullptr) {
      return Status(Code::kNoMemory,
                    *from.path + ": no room for a block of " + std::to_string(wanted) + " bytes");
    }
    Status status = from.file->Read(handle.offset, wanted, &stored.data, stored.owned.get());
    if (!status.ok()) return status;
    if (stored.data.data() != stored.owned.get()) stored.owned.reset();
  }
  if (stored.data.size() != wanted) return BlockCorruption(from, handle.offset, "ends early");
  return stored;
}

}  // namespace

Status BlockCorruption(const BlockFile& from, uint64_t offset, std::string_view what) {
  return {Code::kCorruption,
          *from.path + ": block at " + std::to_string(offset) + ": " + std::string(what)};
}

Result<BlockContents> ReadBlock(const BlockFile& from, const BlockHandle& handle, bool verify) {
  Result<BlockContents> stored = ReadStored(from, handle);
  if (!stored) return stored;
  const char* data = stored->data.data();
  const size_t bytes = handle.bytes;
  if (verify) {
    const uint32_t expected = base::UnmaskCrc32c(base::DecodeFixed32(data + bytes + 1));
    if (base::Crc32c(data, bytes + 1) != expected) {
      return BlockCorruption(from, handle.offset, "checksum mismatch");
    }
  }
  const auto compression = static_cast<Compression>(data[bytes]);
  if (compression == Compression::kNone) {
    stored->data = stored->data.substr(0, bytes);
    return stored;
  }
  Result<Decompressed> opened = Decompress(compression, {data, bytes});
  if (!opened) {
    if (opened.error().code() == Code::kCorruption) {
      return BlockCorruption(from, handle.offset, opened.error().message());
    }
    return Status(opened.error().code(), *from.path + ": block at " +
                                             std::to_string(handle.offset) + ": " +
                                             std::string(opened.error().message()));
  }
  return BlockContents{{opened->bytes.get(), opened->size}, std::move(opened->bytes)};
}

}  // namespace weft::table
