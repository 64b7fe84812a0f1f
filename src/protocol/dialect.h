// protocol/dialect.h: which of memcached's protocols a connection speaks.
#pragma once

#include <cstdint>

namespace weft::protocol {

enum class Dialect : uint8_t {
  kAny,     // its first byte will tell
  kText,    // classic and meta commands (protocol/parse.h)
  kBinary,  // protocol/binary.h
};

}  // namespace weft::protocol
