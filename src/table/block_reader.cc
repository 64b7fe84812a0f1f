#include "table/block_reader.h"

#include <cstring>
#include <new>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/read_on.h"
#include "table/decompress.h"

namespace weft::table {

namespace {

// The stored bytes with their trailer.
Result<BlockContents> ReadStored(const BlockFile& from, const BlockHandle& handle) {
  const uint64_t size = from.bytes;
  if (size < kBlockTrailerBytes || handle.bytes > size - kBlockTrailerBytes ||
      handle.offset > size - kBlockTrailerBytes - handle.bytes) {
    return BlockCorruption(from, handle.offset, "is outside the file");
  }
  const size_t wanted = handle.bytes + kBlockTrailerBytes;
  BlockContents stored;
  if (!from.mapped.empty()) {
    stored.data = from.mapped.substr(handle.offset, wanted);
  } else {
    stored.owned.reset(new (std::nothrow) char[wanted]);  // freed by the pointer
    if (stored.owned == nullptr) {
      return Status(Code::kNoMemory,
                    *from.path + ": no memory for a block of " + std::to_string(wanted) + " bytes");
    }
    Status status =
        base::ReadOnAt(*from.file, handle.offset, wanted, &stored.data, stored.owned.get());
    if (!status.ok()) return status;
    if (stored.data.data() != stored.owned.get()) stored.owned.reset();
  }
  if (stored.data.size() != wanted) return BlockCorruption(from, handle.offset, "ends early");
  return stored;
}

// `stored`: with the trailer.
Status CheckChecksum(const BlockFile& from, const BlockHandle& handle, std::string_view stored) {
  const uint32_t expected =
      base::UnmaskCrc32c(base::DecodeFixed32(stored.data() + handle.bytes + 1));
  if (base::Crc32c(stored.data(), handle.bytes + 1) == expected) return Status::Ok();
  return BlockCorruption(from, handle.offset, "checksum mismatch");
}

Compression CompressionOf(const BlockHandle& handle, std::string_view stored) {
  return static_cast<Compression>(stored[handle.bytes]);
}

// What opening its bytes has said.
Status WithPlace(const BlockFile& from, const BlockHandle& handle, const Status& error) {
  if (error.code() == Code::kCorruption) {
    return BlockCorruption(from, handle.offset, error.message());
  }
  return {error.code(), *from.path + ": block at " + std::to_string(handle.offset) + ": " +
                            std::string(error.message())};
}

}  // namespace

Status BlockCorruption(const BlockFile& from, uint64_t offset, std::string_view what) {
  return {Code::kCorruption,
          *from.path + ": block at " + std::to_string(offset) + ": " + std::string(what)};
}

Result<BlockContents> ReadBlock(const BlockFile& from, const BlockHandle& handle, bool verify) {
  Result<BlockContents> stored = ReadStored(from, handle);
  if (!stored) return stored;
  if (verify) {
    if (Status status = CheckChecksum(from, handle, stored->data); !status.ok()) return status;
  }
  const Compression compression = CompressionOf(handle, stored->data);
  stored->data = stored->data.substr(0, handle.bytes);
  if (compression == Compression::kNone) return stored;
  Result<Decompressed> opened = Decompress(compression, stored->data);
  if (!opened) return WithPlace(from, handle, opened.error());
  return BlockContents{{opened->bytes.get(), opened->size}, std::move(opened->bytes)};
}

Result<size_t> CheckBlock(const BlockFile& from, const BlockHandle& handle,
                          std::string_view stored) {
  if (Status status = CheckChecksum(from, handle, stored); !status.ok()) return status;
  const Compression compression = CompressionOf(handle, stored);
  if (compression == Compression::kNone) return static_cast<size_t>(handle.bytes);
  Result<size_t> bytes = DecompressedBytes(compression, stored.substr(0, handle.bytes));
  if (!bytes) return WithPlace(from, handle, bytes.error());
  return bytes;
}

Status OpenBlockTo(const BlockFile& from, const BlockHandle& handle, std::string_view stored,
                   char* to, size_t bytes) {
  const Compression compression = CompressionOf(handle, stored);
  if (compression == Compression::kNone) {
    std::memcpy(to, stored.data(), bytes);
    return Status::Ok();
  }
  Status status = DecompressTo(compression, stored.substr(0, handle.bytes), to, bytes);
  return status.ok() ? status : WithPlace(from, handle, status);
}

}  // namespace weft::table
