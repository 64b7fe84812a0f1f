// lsm/log_format.h: the frame of records in log and manifest files.
//
// Layout    blocks of 32 KiB. A record is one fragment (kFull) or several (kFirst, kMiddle...,
//           kLast), none of which crosses a block's end. A fragment: masked crc32c of type and
//           payload (4), payload bytes (2), type (1), payload. Fewer than 7 bytes left in a block
//           are zeros; exactly 7 hold a kFirst without payload.
// Source    LevelDB's log format; docs/formats/log.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::lsm {

inline constexpr size_t kLogBlockBytes = 32768;
inline constexpr size_t kLogHeaderBytes = 4 + 2 + 1;

// The numbers stand in the files.
enum class FragmentType : uint8_t {
  kZero = 0,  // where a file was given room that was never written
  kFull = 1,
  kFirst = 2,
  kMiddle = 3,
  kLast = 4,
};

}  // namespace weft::lsm
