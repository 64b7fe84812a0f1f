// server/uri.h: keys in lines of text that others split at blanks.
//
// Threads   pure.
// Source    RFC 3986: whatever is not unreserved is escaped.
#pragma once

#include <string_view>

namespace weft::server {

// Appends at `out`, which has room for three times the bytes of `key`; returns the new end.
char* AppendUri(std::string_view key, char* out);

}  // namespace weft::server
