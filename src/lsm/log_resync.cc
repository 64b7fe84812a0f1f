#include "lsm/log_resync.h"

#include <algorithm>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "lsm/batch_prefix.h"
#include "lsm/lost_sectors.h"

namespace weft::lsm {

namespace {

// Headers that are mended to find out where others lead; each costs a checksum of the block.
constexpr int kMendedMax = 16;
// Places of which a byte is guessed; each costs up to 256 readings of the block.
constexpr int kHiddenMax = 16;

bool ReachesBlocksEnd(char type) {
  return type == static_cast<char>(FragmentType::kFirst) ||
         type == static_cast<char>(FragmentType::kMiddle);
}

// What stands at an offset of a block, as its header has it.
class Place {
 public:
  Place(std::string_view block, size_t at)
      : rest_(block.substr(at)), is_last_block_(block.size() < kLogBlockBytes) {}

  bool HasHeader() const { return rest_.size() >= kLogHeaderBytes && IsFragmentType(rest_[6]); }
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

// Whether what begins at `at` is zeros, and nothing before is but some of its own: any length that
// is wrong leads into them.
bool ZerosBegin(std::string_view block, size_t at) {
  if (!AllZeros(block.substr(at, kHiddenBytes))) return false;
  return at < kLostBytesMin || !AllZeros(block.substr(at - kLostBytesMin, kLostBytesMin));
}

// What stands where in a block, and where the bad of it ends.
class Ground {
 public:
  Ground(std::string_view block, const SearchTerms& terms) : block_(block), terms_(terms) {}

  // Whether a whole fragment stands there that may be the file's.
  bool IsWhole(size_t at) const {
    const Place place(block_, at);
    return place.IsWhole() && Fits(place, at);
  }
  // Where the fragment at `at`, which is not whole, ends, if that can be told; else 0.
  size_t TrustedEnd(size_t at, int depth = 0) const {
    const Place place(block_, at);
    size_t by_header = 0;
    if (place.LengthMayBeRight() && place.bytes() <= place.rest().size()) {
      by_header = at + place.bytes();
    }
    const size_t by_record = EndOfRecord(at, by_header);
    if (by_record != 0 && (by_record == by_header || MayGoOn(by_record, depth))) return by_record;
    return by_header != 0 && MayGoOn(by_header, depth) ? by_header : 0;
  }
  // Of a fragment that is wrong, and of which header and record tell the same end, at which it may
  // go on.
  std::optional<size_t> KnownEnd(size_t at) const {
    const Place place(block_, at);
    if (!place.HasHeader() || !place.Begins() || place.bytes() > place.rest().size()) {
      return std::nullopt;
    }
    const size_t end = at + place.bytes();
    if (EndOfRecord(at, end) != end || !MayGoOn(end, 0)) return std::nullopt;
    return end;
  }
  // Of a fragment that is wrong for want of sectors, within its header or up to its end: where the
  // zeros end; else 0.
  size_t LostSectorOf(size_t at, uint64_t last) const {
    const Place place(block_, at);
    if (terms_.kind != RecordKind::kBatch || place.rest().size() < kLogHeaderBytes) return 0;
    const size_t sector = (at / kSectorBytes + 1) * kSectorBytes;
    if (sector < at + kLogHeaderBytes) return EndOfLostSectors(sector);
    if (!place.Begins() || !place.LengthMayBeRight() || place.bytes() > place.rest().size()) {
      return 0;
    }
    const size_t end = at + place.bytes();
    const size_t zeros = block_.substr(0, end).find_last_not_of('\0') + 1;
    const size_t first = (zeros + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
    if (first >= end || first < at + kLogHeaderBytes) return 0;
    BatchPrefix batch(last);
    const size_t begin = at + kLogHeaderBytes;
    if (!batch.Feed(block_.substr(begin, first - begin)) || batch.IsWhole()) return 0;
    const size_t behind = EndOfLostSectors(first);
    return behind >= end ? behind : 0;
  }
  // The last that its writer began, as lsm/torn_batch.h has it. Of a value's text nearly any seven
  // bytes would do for a header.
  bool IsCut(size_t at, uint64_t last) const {
    const Place place(block_, at);
    if (!place.HasHeader() || !place.Begins()) return false;
    const size_t end = at + place.bytes();
    if (end > kLogBlockBytes || (ReachesBlocksEnd(place.rest()[6]) && end != kLogBlockBytes)) {
      return false;
    }
    std::string_view payload = place.rest().substr(kLogHeaderBytes);
    if (end <= block_.size()) {
      // In room that was made ahead.
      payload = payload.substr(0, payload.find_last_not_of('\0') + 1);
      if (at + kLogHeaderBytes + payload.size() >= end) return false;
      if (terms_.kind != RecordKind::kBatch) return false;
    } else if (!place.is_last_block()) {
      return false;
    }
    if (terms_.kind != RecordKind::kBatch) return true;
    BatchPrefix batch(last);
    return batch.Feed(payload) && !batch.IsWhole();
  }
  // The same, where enough of it is there to tell it from anything else.
  std::optional<RecordNumbers> NumbersOfCut(size_t at) const {
    const Place place(block_, at);
    if (!IsCut(at, terms_.before)) return std::nullopt;
    const auto numbers = NumbersOfHead(terms_.kind, place.rest().substr(kLogHeaderBytes));
    if (!numbers || !terms_.Allow(*numbers, at, block_.size())) return std::nullopt;
    return numbers;
  }
  // How far the bytes from `at` on, of a fragment that is wrong, are a record's by its own lengths:
  // nothing is searched for in its values.
  size_t EndOfText(size_t at) const {
    const Place place(block_, at);
    if (terms_.kind != RecordKind::kBatch || !place.HasHeader() || !place.Begins()) return at;
    if (!place.LengthMayBeRight()) return at;
    const std::string_view payload =
        place.rest().substr(kLogHeaderBytes, place.bytes() - kLogHeaderBytes);
    const auto numbers = NumbersOfHead(terms_.kind, payload);
    if (!numbers || !terms_.IsInOrder(*numbers)) return at;
    return at + kLogHeaderBytes + ExtentOf(terms_.kind, payload, [](size_t) { return true; }).bytes;
  }

  // Whether a fragment that is whole may stand here.
  bool Fits(const Place& place, size_t at) const {
    if (terms_.kind == RecordKind::kAny) return true;
    if (!place.Begins()) return false;  // these stand where blocks begin
    if (place.rest()[6] == static_cast<char>(FragmentType::kFull)) {
      return NumbersOf(terms_.kind, Payload(place)).has_value();
    }
    return at + place.bytes() == kLogBlockBytes && MayBegin(terms_.kind, Payload(place));
  }
  static std::string_view Payload(const Place& place) {
    return place.rest().substr(kLogHeaderBytes, place.bytes() - kLogHeaderBytes);
  }

  // Whether something that tells a place from others stands at `at`: behind what is bad.
  bool MayGoOn(size_t at, int depth) const {
    const Place place(block_, at);
    if (place.rest().size() < kLogHeaderBytes || IsWhole(at)) return true;
    if (place.EndsBlock()) return ZerosBegin(block_, at);
    if (terms_.kind == RecordKind::kAny) return false;
    return ZerosBegin(block_, at) || NumbersOfCut(at) ||
           (depth < kDepthMax && TrustedEnd(at, depth + 1) != 0);
  }

 private:
  // Bad ones, one behind the other, that say where the first of them ends.
  static constexpr int kDepthMax = 8;

  // Where the zeros end that fill the sector at `from`, and perhaps others; 0: they don't.
  size_t EndOfLostSectors(size_t from) const {
    const size_t behind = std::min(block_.find_first_not_of('\0', from), block_.size());
    return behind >= std::min(from + kSectorBytes, block_.size()) ? behind : 0;
  }
  // Where the record ends that begins at `at`, whatever its header is.
  size_t EndOfRecord(size_t at, size_t by_header) const {
    const std::string_view rest = block_.substr(at);
    if (terms_.kind == RecordKind::kAny || rest.size() <= kLogHeaderBytes) return 0;
    const Place place(block_, at);
    if (place.HasHeader() && !place.Begins()) return 0;
    if (terms_.kind == RecordKind::kBatch) {
      const auto numbers = NumbersOfHead(terms_.kind, rest.substr(kLogHeaderBytes));
      if (!numbers || !terms_.IsInOrder(*numbers)) return 0;
    }
    const size_t begin = at + kLogHeaderBytes;
    const RecordExtent extent = ExtentOf(terms_.kind, block_.substr(begin), [&](size_t bytes) {
      const size_t end = begin + bytes;
      return terms_.kind == RecordKind::kBatch || end == by_header || end == block_.size() ||
             IsWhole(end) || ZerosBegin(block_, end);
    });
    return extent.is_end ? begin + extent.bytes : 0;
  }
  const std::string_view block_;
  const SearchTerms& terms_;
};

// The ways on from each place of a block, from its end to its beginning.
class Ways {
 public:
  Ways(std::string_view block, const SearchTerms& terms)
      : block_(block), terms_(terms), ground_(block, terms), at_(block.size() + 1) {}

  // Where the best begins, from `from` on; or the block's end.
  size_t Search(size_t from) {
    for (size_t at = block_.size(); at-- > from;) {
      const Place place(block_, at);
      if (place.IsWhole()) {
        // What its checksum covers is its own.
        while (!leading_.empty() && leading_.back() < at + place.bytes()) leading_.pop_back();
        Weigh(at);
        if (at_[at].leads) leading_.push_back(at);
      } else if (const auto end = ground_.KnownEnd(at)) {
        while (!leading_.empty() && leading_.back() < *end) leading_.pop_back();
      } else if (const auto cut = ground_.NumbersOfCut(at)) {
        GiveUpWithin(*cut);
      }
    }
    size_t best = block_.size();
    for (const size_t at : leading_) {
      if (best == block_.size() || !IsBetter(at_[best], at_[at])) best = at;
    }
    return best;
  }

 private:
  struct Way {
    bool leads = false;   // to the end
    bool is_cut = false;  // which is that of a write that was cut
    uint32_t breaks = 0;  // places at which nothing says how it goes on
    uint64_t first = 0;   // its first number
    uint64_t weight = 0;  // of its numbers
  };

  static bool IsBetter(const Way& a, const Way& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    return a.breaks < b.breaks;
  }
  // A write that was cut begins before these: they are its value's. But a copy of what was cut may
  // be a value's as well, and these stand behind it: then it has the higher number.
  void GiveUpWithin(const RecordNumbers& cut) {
    std::erase_if(leading_, [&](size_t at) {
      if (at_[at].is_cut && at_[at].first >= cut.first) at_[at].leads = false;
      return !at_[at].leads;
    });
  }
  // Of a whole fragment.
  void Weigh(size_t at) {
    Way* const way = &at_[at];
    way->first = UINT64_MAX;
    const Place place(block_, at);
    const size_t end = at + place.bytes();
    if (!ground_.Fits(place, at)) return;
    uint64_t last = terms_.before;
    uint64_t weight = 1;
    if (terms_.kind != RecordKind::kAny) {
      const bool is_full = place.rest()[6] == static_cast<char>(FragmentType::kFull);
      const std::string_view payload = Ground::Payload(place);
      const auto numbers =
          is_full ? NumbersOf(terms_.kind, payload) : NumbersOfHead(terms_.kind, payload);
      if (numbers) {
        if (!terms_.Allow(*numbers, at, end)) return;
        way->first = numbers->first;
        last = numbers->last;
        if (is_full) weight = numbers->weight();
      }
    }
    const Way on = From(end, last, 0);
    way->leads = on.leads;
    way->is_cut = on.is_cut;
    way->breaks = on.breaks;
    way->weight = weight + on.weight;
  }
  // Behind a record whose last number is `last`.
  Way From(size_t at, uint64_t last, int depth) {
    const Place place(block_, at);
    if (place.EndsBlock()) return {.leads = true};
    if (place.IsWhole()) return at_[at].first > last ? at_[at] : Way();
    if (AllZeros(place.rest().substr(0, kHiddenBytes))) return BehindZeros(at, last);
    if (const size_t lost = ground_.LostSectorOf(at, last); lost != 0) {
      return BehindLostSector(lost, last);
    }
    if (ground_.IsCut(at, last)) return {.leads = true, .is_cut = true};
    if (depth >= kDepthMax) return {};
    if (const size_t end = ground_.TrustedEnd(at); end != 0) {
      Way way = From(end, last, depth + 1);
      way.is_cut |= Place(block_, end).EndsBlock() && !ground_.MayGoOn(end, 0);
      return way;
    }
    if (mended_++ >= kMendedMax) return {};
    const auto mended = MendHeader(block_, at);
    return mended ? From(at + kLogHeaderBytes + mended->payload_bytes, last, depth + 1) : Way();
  }
  // Zeros that a lost sector ends in, or a head that was not visible yet.
  Way BehindZeros(size_t at, uint64_t last) {
    if (terms_.kind == RecordKind::kAny) return {.leads = true};
    const size_t behind = std::min(block_.find_first_not_of('\0', at), block_.size());
    const size_t sector_end = (at + kLostBytesMin + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
    if (behind >= sector_end) return BehindLostSector(behind, last);
    if (terms_.kind != RecordKind::kBatch || hidden_++ >= kHiddenMax) return {};
    std::string_view text = block_.substr(at + kHiddenBytes);
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    return {.leads = BatchPrefix(last).FeedBehindUnknown(text), .is_cut = true};
  }
  // The zeros may be a value's, too: what leads to the end behind them goes on from here.
  Way BehindLostSector(size_t from, uint64_t last) const {
    Way best;
    bool is_last = true;
    for (const size_t at : leading_) {
      if (at < from) break;
      is_last = false;
      if (at_[at].first > last && (!best.leads || !IsBetter(best, at_[at]))) best = at_[at];
    }
    if (is_last) best.leads = true;
    best.breaks++;
    return best;
  }

  // Bad ones, one behind the other.
  static constexpr int kDepthMax = 256;

  const std::string_view block_;
  const SearchTerms& terms_;
  const Ground ground_;
  std::vector<Way> at_;          // of whole fragments
  std::vector<size_t> leading_;  // of these, descending
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

bool SearchTerms::Allow(const RecordNumbers& numbers, size_t begin, size_t end) const {
  if (!IsInOrder(numbers)) return false;
  if (!anchor && !behind) return true;
  const auto has_room = [](uint64_t missing, int64_t bytes) {
    return bytes >= 0 && missing <= static_cast<uint64_t>(bytes);
  };
  if (anchor) {
    if (numbers.first <= anchor->number) return true;
    const int64_t bytes = static_cast<int64_t>(begin) - anchor->place;
    if (has_room(numbers.first - anchor->number - 1, bytes)) return true;
  }
  return behind &&
         has_room(behind->number - numbers.last - 1, behind->place - static_cast<int64_t>(end));
}

size_t BytesToPassOver(std::string_view block, size_t at, const SearchTerms& terms) {
  const size_t end = Ground(block, terms).TrustedEnd(at);
  return end == 0 ? 0 : end - at;
}

size_t BytesToNextFragment(std::string_view block, size_t at, const SearchTerms& terms) {
  const size_t from = std::max(at + 1, Ground(block, terms).EndOfText(at));
  return Ways(block, terms).Search(from) - at;
}

}  // namespace weft::lsm
