#include "compaction/device/piece/compressed_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/crc32c.h"
#include "table/stored_block.h"

namespace weft::compaction::device {

namespace {

bool HasItsChecksum(std::string_view block, const char* trailer) {
  return base::Crc32c(block.data(), block.size() + 1) ==
         base::UnmaskCrc32c(base::DecodeFixed32(trailer + 1));
}

}  // namespace

bool CompressedBlocks::Make(std::string_view raw, bool checks, base::Crew* crew,
                            std::vector<PackedBlock>* blocks) {
  count_ = (blocks->size() + kBlocksOfShare - 1) / kBlocksOfShare;
  if (shares_.size() < count_) shares_.resize(count_);
  uint64_t at = 0;
  for (size_t i = 0; i < count_; i++) {
    Share& share = shares_[i];
    share.first = i * kBlocksOfShare;
    share.end = std::min(share.first + kBlocksOfShare, blocks->size());
    share.at = at;
    share.is_sound = true;
    for (size_t block = share.first; block < share.end; block++)
      at += (*blocks)[block].bytes + table::kBlockTrailerBytes;
  }
  crew->ForEach(count_, [&](size_t i) { MakeShare(raw, checks, blocks, &shares_[i]); });
  return std::all_of(shares_.begin(), shares_.begin() + static_cast<ptrdiff_t>(count_),
                     [](const Share& share) { return share.is_sound; });
}

void CompressedBlocks::MakeShare(std::string_view raw, bool checks,
                                 std::vector<PackedBlock>* blocks, Share* share) const {
  table::BlockCompressor compressor(kind_, zstd_level_);
  share->made.Clear();
  uint64_t at = share->at;
  for (size_t i = share->first; i < share->end; i++) {
    PackedBlock& block = (*blocks)[i];
    const std::string_view bytes = raw.substr(at, block.bytes);
    // What was written last is as it was when its checksum was made: compressed it gets another.
    if (checks && !HasItsChecksum(bytes, bytes.data() + bytes.size())) share->is_sound = false;
    block.stored_bytes = table::AppendBlock(bytes, &compressor, &share->made);
    at += block.bytes + table::kBlockTrailerBytes;
  }
}

void CompressedBlocks::CopyTo(char* to, uint64_t bytes, base::Crew* crew) const {
  std::vector<uint64_t> begin = {0};
  for (size_t i = 0; i < count_; i++) begin.push_back(begin.back() + shares_[i].made.size());
  crew->ForEach(count_, [&](size_t i) {
    if (begin[i] >= bytes) return;
    std::memcpy(to + begin[i], shares_[i].made.data(),
                std::min<uint64_t>(shares_[i].made.size(), bytes - begin[i]));
  });
}

}  // namespace weft::compaction::device
