#include "base/base64.h"

#include <array>
#include <cstdint>

namespace weft::base {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xFF;

constexpr std::array<uint8_t, 256> MakeDigits() {
  std::array<uint8_t, 256> digits{};
  for (uint8_t& digit : digits) digit = kNoDigit;
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  return digits;
}

constexpr std::array<uint8_t, 256> kDigits = MakeDigits();

}  // namespace

size_t Base64Decode(std::string_view text, char* out) {
  if (text.empty() || text.size() % 4 != 0) return 0;
  size_t padding = 0;
  while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
  const size_t digits_count = text.size() - padding;
  uint32_t bits = 0;
  size_t written = 0;
  for (size_t i = 0; i < digits_count; ++i) {
    const uint8_t digit = kDigits[static_cast<unsigned char>(text[i])];
    if (digit == kNoDigit) return 0;
    bits = bits << 6 | digit;
    // The first of each four digits completes no byte.
    if (i % 4 != 0) out[written++] = static_cast<char>(bits >> (6 - 2 * (i % 4)));
  }
  return written;
}

char* Base64Encode(std::string_view bytes, char* out) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      *out++ = j <= count ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

}  // namespace weft::base
