#include "bench/workload/record.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weft::bench {
namespace {

constexpr std::string_view kPrefix = "user";
constexpr char kFiller = '-';
constexpr uint32_t kLongDigits = 16;
constexpr uint32_t kShortDigits = 8;
static_assert(kRecordKeyBytesMin >= kShortDigits);

constexpr uint32_t DigitsOf(size_t key_bytes) {
  return key_bytes < kLongDigits ? kShortDigits : kLongDigits;
}

// Permutations of the words and their inverses: multiplications by an odd number around an exchange
// of halves.
constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
constexpr uint64_t kInverse = 0xf1de83e19937733du;
static_assert(kFactor * kInverse == 1);
constexpr uint32_t kShortFactor = 0x9e3779b1u;
constexpr uint32_t kShortInverse = 0x0e8b2f51u;
static_assert(kShortFactor * kShortInverse == 1u);

uint64_t Scatter(uint64_t record) {
  uint64_t x = record * kFactor;
  x ^= x >> 32;
  return x * kFactor;
}
uint64_t Gather(uint64_t scattered) {
  uint64_t x = scattered * kInverse;
  x ^= x >> 32;
  return x * kInverse;
}
uint32_t ScatterShort(uint32_t record) {
  uint32_t x = record * kShortFactor;
  x ^= x >> 16;
  return x * kShortFactor;
}
uint32_t GatherShort(uint32_t scattered) {
  uint32_t x = scattered * kShortInverse;
  x ^= x >> 16;
  return x * kShortInverse;
}

// Eight hexadecimal digits, the high one first in memory: each digit's value in a byte, and '0'
// added to it, or what leads to 'a' from ten on.
void WriteDigits(uint32_t word, char* out) {
  uint64_t digits = word;
  digits = (digits | digits << 16) & 0x0000ffff0000ffffu;
  digits = (digits | digits << 8) & 0x00ff00ff00ff00ffu;
  digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0fu;
  const uint64_t letters = (digits + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
  const uint64_t text =
      __builtin_bswap64(digits + 0x3030303030303030u + letters * ('a' - '0' - 10));
  std::memcpy(out, &text, 8);
}
static_assert(std::endian::native == std::endian::little, "the digits are byte-swapped");

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Where in the pool pieces begin. Two pieces rarely have anything in common where there are a
// thousand times as many starts as a piece has bytes, and a pool of short ones stays in the
// processor's cache: to compare with one of 1 MiB is an eighth of a client's time.
uint64_t PoolStarts(uint32_t value_bytes_max) {
  return std::bit_ceil(
      std::clamp(uint64_t{value_bytes_max} << 10, uint64_t{64} << 10, uint64_t{1} << 20));
}

Status CheckSizes(const SizeDistribution& sizes, const char* of, uint32_t least, uint32_t most) {
  if (sizes.min() >= least && sizes.max() <= most) return Status::Ok();
  return {Code::kInvalidArgument, std::string(of) + " have " + std::to_string(least) + " to " +
                                      std::to_string(most) + " bytes, not " + sizes.ToText()};
}

}  // namespace

Status RecordFormat::Check(const RecordOptions& options) {
  Status status = CheckSizes(options.key_bytes, "keys", kRecordKeyBytesMin, kRecordKeyBytesMax);
  if (options.key_bytes_of != nullptr) {
    for (const uint8_t bytes : *options.key_bytes_of)
      if (bytes < kRecordKeyBytesMin || bytes > kRecordKeyBytesMax)
        return {Code::kInvalidArgument, "a key has " + std::to_string(bytes) + " bytes"};
  }
  if (status.ok())
    status = CheckSizes(options.value_bytes, "values", kRecordValueBytesMin, kRecordValueBytesMax);
  if (status.ok() && options.ordered && !options.key_bytes.is_fixed())
    return {Code::kInvalidArgument,
            "ordered keys must have one size, not " + options.key_bytes.ToText()};
  return status;
}

Result<RecordFormat> RecordFormat::Make(const RecordOptions& options) {
  Status status = Check(options);
  if (!status.ok()) return status;
  return RecordFormat(options);
}

RecordFormat RecordFormat::OfSizes(uint32_t key_bytes, uint32_t value_bytes, bool ordered) {
  RecordOptions options;
  options.key_bytes = SizeDistribution::Fixed(key_bytes);
  options.value_bytes = SizeDistribution::Fixed(value_bytes);
  options.ordered = ordered;
  WEFT_CHECK(Check(options).ok());
  return RecordFormat(options);
}

RecordFormat::RecordFormat(const RecordOptions& options)
    : options_(options), pool_starts_(PoolStarts(options.value_bytes.max())) {
  // Each piece of 100 bytes is 50 random ones, twice: what LevelDB's own benchmark stores, too.
  constexpr size_t kPiece = 50;
  base::Random random(0x5eed);
  pool_.reserve(pool_starts_ + options.value_bytes.max() + 2 * kPiece);
  while (pool_.size() < pool_starts_ + options.value_bytes.max()) {
    std::string piece(kPiece, '\0');
    for (char& c : piece) c = static_cast<char>(' ' + random.Below(95));
    pool_ += piece + piece;
  }
}

std::string_view RecordFormat::WriteKey(uint64_t record, char* out) const {
  const uint32_t bytes = KeyBytes(record);
  const uint32_t before = bytes - DigitsOf(bytes);
  if (before > 0) {
    const size_t prefix = std::min<size_t>(before, kPrefix.size());
    std::memcpy(out, kPrefix.data(), prefix);
    std::memset(out + prefix, kFiller, before - prefix);
  }
  if (bytes < kLongDigits) {
    const auto number = static_cast<uint32_t>(record);
    WriteDigits(options_.ordered ? number : ScatterShort(number), out + before);
  } else {
    const uint64_t digits = options_.ordered ? record : Scatter(record);
    WriteDigits(static_cast<uint32_t>(digits >> 32), out + before);
    WriteDigits(static_cast<uint32_t>(digits), out + before + 8);
  }
  return {out, bytes};
}

std::optional<uint64_t> RecordFormat::RecordOf(std::string_view key) const {
  if (key.size() < kRecordKeyBytesMin || key.size() > kRecordKeyBytesMax) return std::nullopt;
  uint64_t record = 0;
  for (const char c : key.substr(key.size() - DigitsOf(key.size()))) {
    const int digit = DigitOf(c);
    if (digit < 0) return std::nullopt;
    record = record << 4 | static_cast<uint64_t>(digit);
  }
  if (!options_.ordered)
    record = key.size() < kLongDigits ? GatherShort(static_cast<uint32_t>(record)) : Gather(record);
  char room[kRecordKeyBytesMax];
  if (record >= kRecordsMax || WriteKey(record, room) != key) return std::nullopt;
  return record;
}

}  // namespace weft::bench
