#include "server/uri.h"

namespace weft::server {

char* AppendUri(std::string_view key, char* out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      *out++ = c;
    } else {
      *out++ = '%';
      *out++ = kDigits[byte >> 4];
      *out++ = kDigits[byte & 15];
    }
  }
  return out;
}

}  // namespace weft::server
