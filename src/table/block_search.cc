#include "table/block_search.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/coding.h"
#include "base/crc32c.h"
#include "table/internal_key.h"

namespace weft::table {

namespace {

constexpr size_t kStartsOfAnEndMax = 16;

// Polynomials over bits as CRC-32C has them: the top bit is the constant, and what is beyond x^31
// is taken modulo this.
constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr uint32_t kOne = uint32_t{1} << 31;

uint32_t TimesX(uint32_t a) { return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0); }

uint32_t OverX8(uint32_t a) {
  for (int i = 0; i < 8; i++) a = (a & kOne) != 0 ? ((a ^ kPolynomial) << 1) | 1 : a << 1;
  return a;
}

uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; b != 0; b <<= 1, a = TimesX(a)) {
    if ((b & kOne) != 0) product ^= a;
  }
  return product;
}

// A first entry shares nothing with a key before it, and its key is an internal one.
bool BeginsPlain(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.front() != 0) return false;
  bytes.remove_prefix(1);
  uint32_t key_bytes;
  return base::GetVarint32(&bytes, &key_bytes) && key_bytes >= kTrailerBytes;
}

// Snappy's first element gives bytes as they are, for there is nothing before it to repeat.
bool BeginsSnappy(std::string_view bytes) {
  constexpr size_t kShort = 60;
  bytes = bytes.substr(0, 16);
  uint32_t length;
  if (!base::GetVarint32(&bytes, &length) || bytes.empty()) return false;
  const auto tag = static_cast<uint8_t>(bytes.front());
  if ((tag & 3) != 0) return false;
  const size_t length_bytes = tag >> 2 < kShort ? 0 : (tag >> 2) - kShort + 1;
  return bytes.size() > 1 + length_bytes && BeginsPlain(bytes.substr(1 + length_bytes));
}

bool Begins(Compression compression, std::string_view bytes) {
  switch (compression) {
    case Compression::kNone: return BeginsPlain(bytes);
    case Compression::kSnappy: return BeginsSnappy(bytes);
    case Compression::kZstd: return bytes.starts_with("\x28\xb5\x2f\xfd");
  }
  return false;
}

// Restart points, of which each block has one at least, and their count are its end.
size_t RestartBytes(std::string_view file, size_t end) {
  if (end < sizeof(uint32_t)) return file.size();
  const uint64_t count = base::DecodeFixed32(file.data() + end - sizeof(uint32_t));
  return count == 0 ? file.size() : (count + 1) * sizeof(uint32_t);
}

bool MayEndAt(std::string_view file, size_t end) {
  const auto compression = static_cast<uint8_t>(file[end]);
  if (compression > static_cast<uint8_t>(Compression::kZstd)) return false;
  return compression != static_cast<uint8_t>(Compression::kNone) || RestartBytes(file, end) < end;
}

bool IsBlock(std::string_view file, size_t start, size_t end) {
  const auto compression = static_cast<Compression>(file[end]);
  const size_t bytes = end - start;
  if (compression == Compression::kNone && RestartBytes(file, end) >= bytes) return false;
  return bytes > 0 && Begins(compression, file.substr(start, bytes));
}

using Place = std::pair<uint32_t, size_t>;  // what begins and what ends there have in common; where

// A checksum is linear: with P(i) the register after the first i bytes, and each further byte a
// multiplication by x^8, the checksum of [a, b) is P(b) + (P(a) + P(0)) x^8(b-a). So
// (P(a) + P(0)) x^-8a  =  (P(b) + what is stored behind b) x^-8b  where a block is, and each side
// is of one position: one look-up a position finds all pairs.
void FindPlaces(std::string_view file, std::vector<Place>* starts, std::vector<Place>* ends) {
  uint32_t power = kOne;  // x^-8i, of the i bytes so far
  uint32_t crc = 0;       // of these bytes
  for (size_t i = 0; i + kBlockTrailerBytes <= file.size(); i++) {
    const std::string_view rest = file.substr(i);
    if (Begins(Compression::kNone, rest) || Begins(Compression::kSnappy, rest) ||
        Begins(Compression::kZstd, rest)) {
      starts->emplace_back(Multiply(crc, power), i);
    }
    // Of what ends here the last byte that is summed up tells the compression.
    crc = base::ExtendCrc32c(crc, file.data() + i, 1);
    power = OverX8(power);
    if (!MayEndAt(file, i)) continue;
    const uint32_t stored = base::UnmaskCrc32c(base::DecodeFixed32(file.data() + i + 1));
    ends->emplace_back(Multiply(crc ^ stored, power), i);
  }
}

}  // namespace

std::vector<BlockHandle> FindBlocks(std::string_view file) {
  std::vector<Place> starts;
  std::vector<Place> ends;
  FindPlaces(file, &starts, &ends);
  std::ranges::sort(starts);
  std::vector<BlockHandle> found;
  for (const auto& [key, end] : ends) {
    auto start = std::ranges::upper_bound(starts, Place(key, end));
    for (size_t i = 0; i < kStartsOfAnEndMax && start != starts.begin(); i++) {
      --start;
      if (start->first != key || end - start->second > kSearchedBlockBytesMax) break;
      if (IsBlock(file, start->second, end)) found.push_back({start->second, end - start->second});
    }
  }
  return found;
}

}  // namespace weft::table
