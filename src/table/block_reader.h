// table/block_reader.h: fetches one block of a table file, checked and decompressed.
//
// Layout    a block's stored bytes, then its trailer (table/format.h). Uncompressed blocks of a
//           mapped file are used in place; all others are copied into their own memory.
// Threads   pure, except BlockPin: a value of one thread at a time.
// Errors    kCorruption for a handle outside the file, a checksum that does not match, an unknown
//           compression or bytes that don't decompress: the message names file and offset. kIoError
//           if the file cannot be read.
// Cost      in place: no copy, no allocation. With `verify`: one pass over the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "table/format.h"
#include "weft/block_cache.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::table {

// A table file as its blocks are read. A view: file and path must outlive it.
struct BlockFile {
  const RandomAccessFile* file = nullptr;
  const std::string* path = nullptr;
  uint64_t bytes = 0;
  std::string_view mapped;  // empty, or `bytes` of the file in memory
};

// A block's bytes, uncompressed.
struct BlockContents {
  std::string_view data;
  std::unique_ptr<char[]> owned;  // null: `data` lies in the mapped file
};

// kCorruption, "PATH: block at OFFSET: WHAT".
Status BlockCorruption(const BlockFile& from, uint64_t offset, std::string_view what);

Result<BlockContents> ReadBlock(const BlockFile& from, const BlockHandle& handle, bool verify);
// In two steps, for a block that was read already, including its trailer. First its uncompressed
// size, if its checksum is right:
Result<size_t> CheckBlock(const BlockFile& from, const BlockHandle& handle,
                          std::string_view stored);
// Then those bytes, to memory with room for them.
Status OpenBlockTo(const BlockFile& from, const BlockHandle& handle, std::string_view stored,
                   char* to, size_t bytes);

// The block at `handle` if it lies uncompressed in the mapped file, and nothing else is wrong with
// it; otherwise null. The fast way for lookups: if it fails, ReadBlock says why.
inline const char* BlockInPlace(const BlockFile& from, const BlockHandle& handle) {
  const uint64_t size = from.mapped.size();
  if (size < kBlockTrailerBytes || handle.bytes > size - kBlockTrailerBytes ||
      handle.offset > size - kBlockTrailerBytes - handle.bytes) {
    return nullptr;
  }
  const char* block = from.mapped.data() + handle.offset;
  return block[handle.bytes] == static_cast<char>(Compression::kNone) ? block : nullptr;
}

// Keeps a block's bytes in place: holds a cache's entry, or the bytes themselves, or nothing (a
// block in a mapped file lives as long as its table).
class BlockPin {
 public:
  BlockPin() = default;
  BlockPin(BlockCache* cache, BlockCache::Handle* handle) : cache_(cache), handle_(handle) {}
  explicit BlockPin(std::unique_ptr<char[]> owned) : owned_(std::move(owned)) {}
  BlockPin(BlockPin&& other) noexcept
      : cache_(std::exchange(other.cache_, nullptr)),
        handle_(other.handle_),
        owned_(std::move(other.owned_)) {}
  BlockPin& operator=(BlockPin&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    cache_ = std::exchange(other.cache_, nullptr);
    handle_ = other.handle_;
    owned_ = std::move(other.owned_);
    return *this;
  }
  ~BlockPin() { Reset(); }

  void Reset() {
    if (cache_ != nullptr) cache_->Release(handle_);
    cache_ = nullptr;
    owned_.reset();
  }

 private:
  BlockCache* cache_ = nullptr;
  BlockCache::Handle* handle_ = nullptr;
  std::unique_ptr<char[]> owned_;
};

}  // namespace weft::table
