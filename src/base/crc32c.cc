#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__) && !defined(__clang__)
// Clang knows these instructions only where the whole file may use them.
#define WEFT_CRC_ARM 1
#include <arm_acle.h>
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace weft::base {

namespace {

// Polynomials are reflected: bit 31 is the factor of x^0, bit 0 that of x^31.
constexpr uint32_t kPolynomial = 0x82f63b78u;

constexpr uint32_t TimesX(uint32_t a) { return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0); }

// table[k][b]: the checksum of byte b followed by k zero bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; bit++) crc = TimesX(crc);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < tables.size(); k++) {
    for (size_t b = 0; b < 256; b++) {
      const uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = MakeTables();

uint64_t LoadWord(const char* from) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

#if defined(__x86_64__) || defined(WEFT_CRC_ARM)
#define WEFT_CRC_BY_INSTRUCTION 1

// Words of each of the three streams in a round: 3 * 170 words are nearly 4 KiB.
constexpr size_t kStreamWordsMax = 170;
constexpr size_t kStreamWordsMin = 4;  // below, joining the streams costs more than it saves

// kShift[n] moves a checksum over n words of zeros: x^(64n - 33) mod P. The product of two
// reflected polynomials comes out one bit low, and the instruction that reduces it multiplies by
// x^32.
constexpr std::array<uint32_t, 2 * kStreamWordsMax + 1> MakeShifts() {
  std::array<uint32_t, 2 * kStreamWordsMax + 1> shifts{};
  uint32_t power = 1;  // x^31: of one word
  for (size_t words = 1; words < shifts.size(); words++) {
    shifts[words] = power;
    for (int bit = 0; bit < 64; bit++) power = TimesX(power);
  }
  return shifts;
}
constexpr std::array<uint32_t, 2 * kStreamWordsMax + 1> kShift = MakeShifts();

#if defined(__x86_64__)

#define WEFT_CRC_TARGET __attribute__((target("sse4.2,pclmul")))

WEFT_CRC_TARGET inline uint64_t Multiply(uint64_t a, uint32_t b) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(a)), _mm_cvtsi64_si128(b), 0);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}
WEFT_CRC_TARGET inline uint64_t AddWord(uint64_t crc, uint64_t word) {
  return _mm_crc32_u64(crc, word);
}
WEFT_CRC_TARGET inline uint32_t AddByte(uint32_t crc, char byte) {
  return _mm_crc32_u8(crc, static_cast<uint8_t>(byte));
}

bool HasInstructions() {
  // A look at words that start-up code filled: no initialisation of our own to come too late.
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#else  // WEFT_CRC_ARM

#define WEFT_CRC_TARGET __attribute__((target("+crc+crypto")))

WEFT_CRC_TARGET inline uint64_t Multiply(uint64_t a, uint32_t b) {
  return static_cast<uint64_t>(vmull_p64(static_cast<poly64_t>(a), static_cast<poly64_t>(b)));
}
WEFT_CRC_TARGET inline uint64_t AddWord(uint64_t crc, uint64_t word) {
  return __crc32cd(static_cast<uint32_t>(crc), word);
}
WEFT_CRC_TARGET inline uint32_t AddByte(uint32_t crc, char byte) {
  return __crc32cb(crc, static_cast<uint8_t>(byte));
}

bool HasInstructions() {
  constexpr unsigned long kBoth = HWCAP_CRC32 | HWCAP_PMULL;
  static const bool has = (getauxval(AT_HWCAP) & kBoth) == kBoth;
  return has;
}

#endif

// The instruction takes three cycles but one can start in each: three streams, side by side in the
// data, keep it busy. Returns the checksum of all three.
WEFT_CRC_TARGET inline uint64_t ThreeStreams(uint64_t crc, const char* data, size_t words) {
  const char* const second = data + words * 8;
  const char* const third = second + words * 8;
  uint64_t crc2 = 0, crc3 = 0;
  for (size_t i = 0; i < words; i++) {
    crc = AddWord(crc, LoadWord(data + i * 8));
    crc2 = AddWord(crc2, LoadWord(second + i * 8));
    crc3 = AddWord(crc3, LoadWord(third + i * 8));
  }
  const uint64_t moved = Multiply(crc, kShift[2 * words]) ^ Multiply(crc2, kShift[words]);
  return AddWord(0, moved) ^ crc3;
}

WEFT_CRC_TARGET uint32_t ExtendByInstruction(uint32_t start, const char* data, size_t bytes) {
  uint64_t crc = ~start;
  while (bytes >= 3 * kStreamWordsMin * 8) {
    const size_t words = bytes / 24 < kStreamWordsMax ? bytes / 24 : kStreamWordsMax;
    crc = ThreeStreams(crc, data, words);
    data += words * 24;
    bytes -= words * 24;
  }
  for (; bytes >= 8; data += 8, bytes -= 8) crc = AddWord(crc, LoadWord(data));
  uint32_t crc32 = static_cast<uint32_t>(crc);
  for (; bytes > 0; data++, bytes--) crc32 = AddByte(crc32, *data);
  return ~crc32;
}

#undef WEFT_CRC_TARGET

#endif  // x86-64 or ARM

}  // namespace

uint32_t ExtendCrc32cByTables(uint32_t crc, const char* data, size_t bytes) {
  crc = ~crc;
  for (; bytes >= 8; data += 8, bytes -= 8) {
    const uint64_t word = LoadWord(data) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; i++) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; bytes > 0; data++, bytes--) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*data)) & 0xff];
  }
  return ~crc;
}

uint32_t ExtendCrc32c(uint32_t crc, const char* data, size_t bytes) {
#if defined(WEFT_CRC_BY_INSTRUCTION)
  if (HasInstructions()) return ExtendByInstruction(crc, data, bytes);
#endif
  return ExtendCrc32cByTables(crc, data, bytes);
}

}  // namespace weft::base
