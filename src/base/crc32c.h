// base/crc32c.h: the checksum of blocks and log records: CRC-32C (Castagnoli).
//
// Threads   pure.
// Cost      the processor's own instruction where it has one, else tables.
// Source    polynomial 0x1edc6f41, reflected; masking is LevelDB's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::base {

// Checksum of A and then `data`, where `crc` is the checksum of A (0: A is empty).
uint32_t ExtendCrc32c(uint32_t crc, const char* data, size_t bytes);
inline uint32_t Crc32c(const char* data, size_t bytes) { return ExtendCrc32c(0, data, bytes); }
inline uint32_t Crc32c(std::string_view data) { return Crc32c(data.data(), data.size()); }

// What is stored. A checksum of bytes that hold checksums is weak, so stored ones are disguised.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace weft::base
