#include "bench/drive/hdr_encoding.h"

namespace weft::bench {
namespace {

constexpr uint32_t kCookie = 0x1c849303 | 0x10;
constexpr uint32_t kDigits = 3;
constexpr uint64_t kLowest = 1;
constexpr double kRatio = 1;

template <typename Number>
void AppendBytes(Number number, std::string* out) {
  for (int shift = static_cast<int>(8 * sizeof number) - 8; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(number >> shift));
  }
}

void AppendZeros(size_t count, std::string* out) {
  if (count == 1) {
    AppendZigZag(0, out);
  } else if (count > 1) {
    AppendZigZag(-static_cast<int64_t>(count), out);
  }
}

std::string EncodeCounts(const base::Histogram& histogram) {
  std::string counts;
  size_t next = 0;  // index
  histogram.ForEach([&](uint64_t value, uint64_t times) {
    const size_t index = HdrIndex(value);
    AppendZeros(index - next, &counts);
    AppendZigZag(static_cast<int64_t>(times), &counts);
    next = index + 1;
  });
  if (next == 0) AppendZeros(1, &counts);  // as HdrHistogram does: some readers want a count
  return counts;
}

}  // namespace

void AppendBigEndian(uint32_t number, std::string* out) { AppendBytes(number, out); }
void AppendBigEndian(uint64_t number, std::string* out) { AppendBytes(number, out); }

void AppendZigZag(int64_t number, std::string* out) {
  constexpr int kLongest = 9;  // bytes; the last has 8 bits of the number
  uint64_t rest = static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
  for (int byte = 1; byte < kLongest && rest >= 0x80; ++byte) {
    out->push_back(static_cast<char>(rest | 0x80));
    rest >>= 7;
  }
  out->push_back(static_cast<char>(rest));
}

std::string EncodeHdr(const base::Histogram& histogram) {
  const std::string counts = EncodeCounts(histogram);
  std::string out;
  AppendBigEndian(kCookie, &out);
  AppendBigEndian(static_cast<uint32_t>(counts.size()), &out);
  AppendBigEndian(uint32_t{0}, &out);
  AppendBigEndian(kDigits, &out);
  AppendBigEndian(kLowest, &out);
  AppendBigEndian(base::Histogram::kValueMax, &out);
  AppendBigEndian(std::bit_cast<uint64_t>(kRatio), &out);
  return out + counts;
}

}  // namespace weft::bench
