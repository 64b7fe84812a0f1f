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
#include <string_view>

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
// Whether a fragment that was written has such a type.
inline bool IsFragmentType(char byte) {
  return byte >= static_cast<char>(FragmentType::kFull) &&
         byte <= static_cast<char>(FragmentType::kLast);
}

// What blocks are filled up with, and room that was never written.
inline bool AllZeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace weft::lsm
