// base/crc32c.h: the checksum of blocks and log records: CRC-32C (Castagnoli).
//
// Threads   pure.
// Cost      x86-64 and (GCC on Linux) ARM: the instruction, three streams at a time, about
//           8 bytes a cycle for blocks on x86-64; chosen at run time. Else eight table lookups for
//           8 bytes.
// Source    polynomial 0x1edc6f41, reflected; masking is LevelDB's. Streams joined by carry-less
//           multiplication: Gopal et al., "Fast CRC computation for iSCSI polynomial using CRC32
//           instruction", Intel 2011; tables: Kounavis and Berry, "Novel table lookup-based
//           algorithms for high-performance CRC generation", 2008.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::base {

// Checksum of A and then `data`, where `crc` is the checksum of A (0: A is empty).
uint32_t ExtendCrc32c(uint32_t crc, const char* data, size_t bytes);
// The same by tables alone: for processors without the instruction, and to check it against.
uint32_t ExtendCrc32cByTables(uint32_t crc, const char* data, size_t bytes);
inline uint32_t Crc32c(const char* data, size_t bytes) { return ExtendCrc32c(0, data, bytes); }
inline uint32_t Crc32c(std::string_view data) { return Crc32c(data.data(), data.size()); }

// What is stored. A checksum of bytes that hold checksums is weak, so stored ones are disguised.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace weft::base
