// compaction/device/kernel/checksum_lanes.h: CRC-32C of a block by the 32 lanes of a warp.
//
// Without its first and last inversion a CRC is linear: the sum (exclusive or) of what each word of
// the message comes to, advanced by the words behind it. So lane l takes words l, l + 32, l + 64,
// ..., which are neighbours of the other lanes' words in memory: before each it advances what it
// has by 32 words, four table lookups; at the end by those between its last word and the block's
// end, one multiplication. The sum of all lanes' results is the block's. A block is aligned at its
// end, for zeros before the beginning change nothing.
//
// Threads   pure; the tables are read only.
// Source    the polynomial's arithmetic: Kounavis and Berry, "Novel table lookup-based algorithms
//           for high-performance CRC generation", 2008. Interleaved lanes are ours.
#pragma once

#include "base/host_device.h"

namespace weft::compaction::device {

inline constexpr uint32_t kLanes = 32;

// a * b modulo the polynomial, bits reflected: bit 31 is x^0.
WEFT_HOST_DEVICE inline uint32_t MultiplyCrc(uint32_t a, uint32_t b) {
  constexpr uint32_t kPolynomial = 0x82f63b78;
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1) != 0 ? b >> 1 ^ kPolynomial : b >> 1;
  }
  return product;
}

struct ChecksumTables {
  uint32_t by_round[4][256];  // [k][b]: b << 8k, advanced by 32 words
  uint32_t to_end[kLanes];    // [l]: x to the power of the bits from lane l's last word to the end

  static ChecksumTables Make() {
    ChecksumTables tables;
    uint32_t power = 1u << 31;                                                // x^0
    for (int bit = 0; bit < 32; bit++) power = MultiplyCrc(power, 1u << 30);  // times x
    const uint32_t word = power;                                              // x^32
    for (uint32_t lane = kLanes; lane-- > 0; power = MultiplyCrc(power, word)) {
      tables.to_end[lane] = power;
    }
    const uint32_t round = tables.to_end[0];
    for (uint32_t k = 0; k < 4; k++) {
      for (uint32_t byte = 0; byte < 256; byte++) {
        tables.by_round[k][byte] = MultiplyCrc(round, byte << (8 * k));
      }
    }
    return tables;
  }
};

// The word whose last byte is byte `end` - 1 of `data`, little-endian, as the checksum takes it:
// the message's first four bytes inverted, zeros before it.
WEFT_HOST_DEVICE inline uint32_t ChecksumWord(const uint8_t* data, uint64_t end) {
  constexpr uint64_t kInvertedBytes = 4;
  if (end >= 4 + kInvertedBytes) return base::LoadLittleEndian32(data + end - 4);
  uint32_t word = 0;
  for (uint64_t i = 0; i < 4; i++) {
    if (end + i < 4) continue;  // before the beginning
    const uint64_t at = end + i - 4;
    const uint32_t byte = data[at] ^ (at < kInvertedBytes ? 0xffu : 0u);
    word |= byte << (8 * i);
  }
  return word;
}

// What lane `lane` of 32 has of it; the exclusive or of all lanes' is what MaskedChecksum takes.
// REQUIRES: bytes >= 4
WEFT_HOST_DEVICE inline uint32_t ChecksumOfLane(const ChecksumTables& tables, const uint8_t* data,
                                                uint64_t bytes, uint32_t lane) {
  constexpr uint64_t kRoundBytes = 4 * kLanes;
  const uint64_t rounds = (bytes + kRoundBytes - 1) / kRoundBytes;
  uint32_t sum = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    sum = tables.by_round[0][sum & 0xff] ^ tables.by_round[1][sum >> 8 & 0xff] ^
          tables.by_round[2][sum >> 16 & 0xff] ^ tables.by_round[3][sum >> 24];
    // Words count from the end.
    const uint64_t behind = (rounds - 1 - round) * kRoundBytes + 4 * (kLanes - 1 - lane);
    if (behind < bytes) sum ^= ChecksumWord(data, bytes - behind);
  }
  return MultiplyCrc(tables.to_end[lane], sum);
}

// The checksum as it stands in a block's trailer.
WEFT_HOST_DEVICE inline uint32_t MaskedChecksum(uint32_t sum_of_lanes) {
  const uint32_t crc = ~sum_of_lanes;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace weft::compaction::device
