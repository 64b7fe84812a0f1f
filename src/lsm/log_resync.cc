#include "lsm/log_resync.h"

#include <algorithm>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "lsm/batch_prefix.h"
#include "lsm/lost_sectors.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

// Headers that are mended to find out where others lead; each costs a checksum of the block.
constexpr int kMendedMax = 16;
// Places of which a byte is guessed; each costs up to 256 readings of the block.
constexpr int kHiddenMax = 16;

bool IsType(char byte) {
  return byte >= static_cast<char>(FragmentType::kFull) &&
         byte <= static_cast<char>(FragmentType::kLast);
}

bool ReachesBlocksEnd(char type) {
  return type == static_cast<char>(FragmentType::kFirst) ||
         type == static_cast<char>(FragmentType::kMiddle);
}

bool AllZeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

// What stands at an offset of a block, as its header has it.
class Place {
 public:
  Place(std::string_view block, size_t at)
      : rest_(block.substr(at)), is_last_block_(block.size() < kLogBlockBytes) {}

  bool HasHeader() const { return rest_.size() >= kLogHeaderBytes && IsType(rest_[6]); }
  size_t bytes() const {
    return kLogHeaderBytes + static_cast<uint8_t>(rest_[4]) +
           (static_cast<size_t>(static_cast<uint8_t>(rest_[5])) << 8);
  }
  bool IsWhole() const {
    return HasHeader() && bytes() <= rest_.size() &&
           Holds(base::Crc32c(rest_.substr(6, bytes() - 6)));
  }
  bool Holds(uint32_t crc) const {
    return base::MaskCrc32c(crc) == base::DecodeFixed32(rest_.data());
  }
  // Only first and middle fragments must, and others may, end where the block does.
  bool LengthMayBeRight() const {
    if (!HasHeader()) return false;
    return !ReachesBlocksEnd(rest_[6]) || is_last_block_ || bytes() == rest_.size();
  }
  bool Begins() const {
    return rest_[6] == static_cast<char>(FragmentType::kFull) ||
           rest_[6] == static_cast<char>(FragmentType::kFirst);
  }
  // Of a whole fragment: where a batch begins in it, the numbers that it has; else nothing.
  std::string_view BatchHead() const {
    if (!Begins() || bytes() < kLogHeaderBytes + WriteBatchInternal::kHeaderBytes) return {};
    return rest_.substr(kLogHeaderBytes, WriteBatchInternal::kHeaderBytes);
  }
  bool EndsBlock() const { return rest_.size() < kLogHeaderBytes || AllZeros(rest_); }

  std::string_view rest() const { return rest_; }
  bool is_last_block() const { return is_last_block_; }

 private:
  std::string_view rest_;
  bool is_last_block_;
};

// Whether a fragment, or the end of what the block holds, stands at `at`.
bool MayFollow(std::string_view block, size_t at) {
  const Place place(block, at);
  return place.EndsBlock() || place.IsWhole();
}

// Where the fragment at `at`, which is not whole, ends, if its length can be trusted; else 0.
size_t TrustedEnd(std::string_view block, size_t at) {
  const Place place(block, at);
  if (!place.LengthMayBeRight() || place.bytes() > place.rest().size()) return 0;
  const size_t end = at + place.bytes();
  const Place next(block, end);
  if (next.rest().size() < kLogHeaderBytes || next.IsWhole()) return end;
  if (!next.EndsBlock()) return 0;
  // Into zeros any length leads that is wrong: they begin where it ends, but for some of its own.
  const size_t zeros = block.find_last_not_of('\0') + 1;
  return zeros + kLostBytesMin > end ? end : 0;
}

// Whether the numbers of batches rise, record by record.
class RisingNumbers {
 public:
  bool Take(const Place& place) {
    const std::string_view batch = place.BatchHead();
    if (batch.empty()) return true;  // a middle, or too short to say
    const table::SequenceNumber first = WriteBatchInternal::SequenceOf(batch);
    const uint32_t count = WriteBatchInternal::CountOf(batch);
    if (first <= last_ || first > table::kSequenceMax - count) return false;
    if (count > 0) last_ = first + count - 1;
    return true;
  }
  // A batch that may follow.
  BatchPrefix Follow() const { return BatchPrefix(last_); }

 private:
  table::SequenceNumber last_ = 0;
};

// Which fragments are followed by others to the end of what the block holds.
class Chains {
 public:
  Chains(std::string_view block, bool are_batches)
      : block_(block), are_batches_(are_batches), astray_(block.size()) {}

  bool Lead(size_t at) {
    std::vector<size_t> passed;
    RisingNumbers numbers;
    for (;;) {
      const Place place(block_, at);
      if (place.EndsBlock()) return true;
      if (astray_[at]) break;
      const bool is_whole = place.IsWhole();
      // What came before it is a value's; itself it may be right.
      if (is_whole && are_batches_ && !numbers.Take(place)) break;
      passed.push_back(at);
      if (is_whole) {
        at += place.bytes();
        continue;
      }
      if (MayBeTorn(place, at, numbers)) return true;
      const size_t end = EndOfBad(at);
      if (end == 0) break;
      at = end;
    }
    for (const size_t each : passed) astray_[each] = true;
    return false;
  }

 private:
  // The last that its writer began, as lsm/torn_batch.h has it; or what a power cut took. Of a
  // value nearly any seven bytes would do for a header.
  bool MayBeTorn(const Place& place, size_t at, const RisingNumbers& numbers) {
    const std::string_view rest = place.rest();
    if (AllZeros(rest.substr(0, kHiddenBytes))) return MayBeHidden(at, numbers);
    if (!place.is_last_block() || !place.HasHeader() || place.bytes() <= rest.size()) return false;
    const size_t end = at + place.bytes();
    if (end > kLogBlockBytes || (ReachesBlocksEnd(rest[6]) && end != kLogBlockBytes)) return false;
    // Middles and ends stand where blocks begin, and nothing is searched for there.
    if (!place.Begins()) return false;
    return !are_batches_ || numbers.Follow().Feed(rest.substr(kLogHeaderBytes));
  }
  // Zeros that a lost sector ends in, or a head that was not visible yet.
  bool MayBeHidden(size_t at, const RisingNumbers& numbers) {
    if (!are_batches_) return true;
    const size_t behind = std::min(block_.find_first_not_of('\0', at), block_.size());
    const size_t sector_end = (at + kLostBytesMin + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
    if (behind >= sector_end) return true;
    if (hidden_++ >= kHiddenMax) return false;
    std::string_view text = block_.substr(at + kHiddenBytes);
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    return numbers.Follow().FeedBehindUnknown(text);
  }
  size_t EndOfBad(size_t at) {
    if (const size_t end = TrustedEnd(block_, at); end != 0) return end;
    if (mended_++ >= kMendedMax) return 0;
    const auto mended = MendHeader(block_, at);
    return mended ? at + kLogHeaderBytes + mended->payload_bytes : 0;
  }

  const std::string_view block_;
  const bool are_batches_;
  std::vector<bool> astray_;
  int mended_ = 0;
  int hidden_ = 0;
};

}  // namespace

std::optional<MendedHeader> MendHeader(std::string_view block, size_t at) {
  const Place place(block, at);
  const std::string_view rest = place.rest();
  if (rest.size() < kLogHeaderBytes) return std::nullopt;
  if (place.bytes() <= rest.size()) {
    for (int type = 1; type <= static_cast<int>(FragmentType::kLast); type++) {
      const char byte = static_cast<char>(type);
      const uint32_t crc = base::ExtendCrc32c(base::Crc32c(&byte, 1), rest.data() + kLogHeaderBytes,
                                              place.bytes() - kLogHeaderBytes);
      if (place.Holds(crc) && MayFollow(block, at + place.bytes())) {
        return MendedHeader{static_cast<FragmentType>(type), place.bytes() - kLogHeaderBytes};
      }
    }
  }
  if (!place.HasHeader()) return std::nullopt;
  uint32_t crc = base::Crc32c(&rest[6], 1);
  for (size_t bytes = kLogHeaderBytes;; bytes++) {
    if (place.Holds(crc) && MayFollow(block, at + bytes)) {
      return MendedHeader{static_cast<FragmentType>(rest[6]), bytes - kLogHeaderBytes};
    }
    if (bytes == rest.size()) return std::nullopt;
    crc = base::ExtendCrc32c(crc, &rest[bytes], 1);
  }
}

size_t BytesToPassOver(std::string_view block, size_t at) {
  const size_t end = TrustedEnd(block, at);
  return end == 0 ? 0 : end - at;
}

size_t BytesToNextFragment(std::string_view block, size_t at, bool are_batches) {
  Chains chains(block, are_batches);
  for (size_t next = at + 1; next < block.size(); next++) {
    if (Place(block, next).IsWhole() && chains.Lead(next)) return next - at;
  }
  return block.size() - at;
}

}  // namespace weft::lsm
