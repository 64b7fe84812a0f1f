#include "lsm/lost_sectors.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "base/crc32c.h"
#include "base/read_on.h"
#include "lsm/batch_prefix.h"
#include "lsm/log_format.h"
#include "lsm/log_resync.h"

namespace weft::lsm {

namespace {

// The end of `at`'s sector, or of the block.
size_t SectorEnd(std::string_view block, size_t at) {
  return std::min(block.size(), (at / kSectorBytes + 1) * kSectorBytes);
}

// Whether the byte at `at` may have been lost, in a fragment that begins at `begin`.
bool MayBeLost(std::string_view block, size_t begin, size_t at) {
  const size_t end = SectorEnd(block, at);
  const size_t first = std::max(begin, at / kSectorBytes * kSectorBytes);
  const size_t last = block.substr(first, end - first).find_last_not_of('\0');
  const size_t zeros = last == std::string_view::npos ? first : first + last + 1;
  return at >= zeros && (zeros == first || end - zeros >= kLostBytesMin);
}

struct Header {
  FragmentType type;
  size_t payload;

  explicit Header(std::string_view at)
      : type(static_cast<FragmentType>(at[6])),
        payload(static_cast<uint8_t>(at[4]) | static_cast<size_t>(static_cast<uint8_t>(at[5]))
                                                  << 8) {}
  bool Begins() const { return type == FragmentType::kFull || type == FragmentType::kFirst; }
  bool Ends() const { return type == FragmentType::kFull || type == FragmentType::kLast; }
};

bool IsWhole(std::string_view fragment) {
  const uint32_t crc = base::Crc32c(fragment.substr(6));
  return base::MaskCrc32c(crc) == base::DecodeFixed32(fragment.data());
}

// Feeds the payload of a fragment of which bytes are lost, up to the first such that says how the
// batch goes on. False where what is there is no such part of a batch.
bool FeedWhatIsThere(std::string_view block, size_t begin, const Header& header,
                     BatchPrefix* batch) {
  const size_t end = begin + kLogHeaderBytes + header.payload;
  for (size_t at = begin + kLogHeaderBytes; at < end;) {
    if (batch->IsWhole()) return false;
    const size_t any = std::min<uint64_t>(batch->AnyBytesNext(), end - at);
    if (any == 0 && block[at] == '\0' && MayBeLost(block, begin, at)) return true;
    const size_t bytes = std::max<size_t>(any, 1);
    if (!batch->Feed(block.substr(at, bytes))) return false;
    at += bytes;
  }
  return batch->IsWhole() == header.Ends();
}

// What one block says; none: the next must be asked.
std::optional<bool> Judge(std::string_view block, size_t at, BatchPrefix* batch, bool* in_record,
                          table::SequenceNumber before) {
  while (block.size() - at >= kLogHeaderBytes) {
    const Header header(block.substr(at));
    const size_t end = at + kLogHeaderBytes + header.payload;
    const bool is_whole = end <= block.size() && IsWhole(block.substr(at, end - at));
    // Where the checksum holds for another length or type, no byte of it was lost.
    if (!is_whole && MendHeader(block, at)) return false;
    // Of a header that is not all there nothing can be told.
    if (MayBeHidden(block, at)) return true;
    for (size_t i = 0; i < kLogHeaderBytes; i++) {
      if (block[at + i] == '\0' && MayBeLost(block, at, at + i)) return true;
    }
    if (header.type == FragmentType::kZero || header.type > FragmentType::kLast) return false;
    if (end > kLogBlockBytes || (!header.Ends() && end != kLogBlockBytes)) return false;
    if (end > block.size()) return true;  // the file ends in it
    if (header.Begins()) {
      *batch = BatchPrefix(before);  // perhaps behind one that its writer gave up
    } else if (!*in_record) {
      return false;
    }
    *in_record = true;
    if (!is_whole) return FeedWhatIsThere(block, at, header, batch);
    if (header.Ends() || !batch->Feed(block.substr(at + kLogHeaderBytes, header.payload))) {
      return false;
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace

bool MayBeHidden(std::string_view block, size_t at) {
  const std::string_view head = block.substr(at, kHiddenBytes);
  if (head.size() < kHiddenBytes || head.find_first_not_of('\0') != std::string_view::npos) {
    return false;
  }
  // A record that was begun in the sector later would have come there with the head.
  const size_t end = SectorEnd(block, at);
  for (size_t next = at + kHiddenBytes; next < end && block.size() - next >= kLogHeaderBytes;
       next++) {
    const Header header(block.substr(next));
    const size_t bytes = kLogHeaderBytes + header.payload;
    if (!header.Begins() || bytes > block.size() - next) continue;
    if (IsWhole(block.substr(next, bytes))) return false;
  }
  return true;
}

Result<bool> ExplainedByLostSectors(SequentialFile* file, uint64_t from,
                                    table::SequenceNumber before) {
  if (Status status = file->Skip(from / kLogBlockBytes * kLogBlockBytes); !status.ok()) {
    return status;
  }
  const auto room = std::make_unique_for_overwrite<char[]>(kLogBlockBytes);
  BatchPrefix batch(before);
  bool in_record = false;
  for (size_t at = from % kLogBlockBytes;; at = 0) {
    std::string_view block;
    Status status = base::ReadOn(file, kLogBlockBytes, &block, room.get());
    if (!status.ok()) return status;
    if (at >= block.size()) return true;
    const std::optional<bool> verdict = Judge(block, at, &batch, &in_record, before);
    if (verdict) return *verdict;
    if (block.size() < kLogBlockBytes) return true;
  }
}

}  // namespace weft::lsm
