#include "bench/workload/record.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weft::bench {
namespace {

constexpr std::string_view kPrefix = "user";
constexpr char kFiller = '-';
constexpr uint32_t kShortDigits = 8;
static_assert(kRecordKeyBytesMin >= kShortDigits);

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
    : options_(options),
      fixed_key_bytes_(options.key_bytes_of == nullptr && options.key_bytes.is_fixed()
                           ? options.key_bytes.min()
                           : 0),
      before_digits_(kPrefix),
      pool_starts_(PoolStarts(options.value_bytes.max())) {
  before_digits_.resize(kRecordKeyBytesMax + kLongDigits, kFiller);
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

std::string_view RecordFormat::WriteShortKey(uint64_t record, uint32_t bytes, char* out) const {
  const auto number = static_cast<uint32_t>(record);
  const Text16 digits = HexDigits(uint64_t{options_.ordered ? number : ScatterShort(number)} << 32);
  std::memcpy(out, before_digits_.data(), bytes - kShortDigits);
  std::memcpy(out + bytes - kShortDigits, &digits, kShortDigits);
  return {out, bytes};
}

bool RecordFormat::IsShortKey(uint64_t record, uint32_t bytes, const char* text) const {
  char room[kLongDigits];
  return WriteShortKey(record, bytes, room) == std::string_view(text, bytes);
}

std::optional<uint64_t> RecordFormat::RecordOf(std::string_view key) const {
  if (key.size() < kRecordKeyBytesMin || key.size() > kRecordKeyBytesMax) return std::nullopt;
  const bool is_long = key.size() >= kLongDigits;
  uint64_t record = 0;
  for (const char c : key.substr(key.size() - (is_long ? kLongDigits : kShortDigits))) {
    const int digit = DigitOf(c);
    if (digit < 0) return std::nullopt;
    record = record << 4 | static_cast<uint64_t>(digit);
  }
  if (!options_.ordered)
    record = is_long ? Gather(record) : GatherShort(static_cast<uint32_t>(record));
  if (options_.key_bytes_of != nullptr && record >= options_.key_bytes_of->size())
    return std::nullopt;
  if (record >= kRecordsMax || KeyBytes(record) != key.size() || !IsKey(record, key.data()))
    return std::nullopt;
  return record;
}

}  // namespace weft::bench
