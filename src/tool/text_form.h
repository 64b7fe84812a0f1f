// tool/text_form.h: keys and values, which may be any bytes, as text, and back.
//
// Layout    escaped: printable ASCII stands for itself, but \ is \\ and ' is \x27; any other byte
//           is \xNN. No line break, no quote and nothing ambiguous is in it, so it can be put
//           between quotes, and given back on a command line.
//           hex: two digits a byte.
// Threads   pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::tool {

enum class Form : uint8_t { kEscaped, kHex };

std::string ToText(std::string_view bytes, Form form);
inline std::string Escaped(std::string_view bytes) { return ToText(bytes, Form::kEscaped); }
// The bytes of escaped text. kInvalidArgument where a backslash begins neither \\ nor \xNN.
Result<std::string> FromEscaped(std::string_view text);
// And of hex digits. kInvalidArgument where they are none, or an odd number.
Result<std::string> FromHex(std::string_view text);
Result<std::string> FromText(std::string_view text, Form form);

// `text` as a string of JSON, with its quotes. REQUIRES: ASCII
std::string JsonString(std::string_view text);

}  // namespace weft::tool
