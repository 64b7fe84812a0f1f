// tool/db/dump_line.h: an entry of a store as one line of text, and back.
//
// Layout    text: 'KEY' => 'VALUE', or 'KEY' where values are left out. JSON: {"key": "KEY",
//           "value": "VALUE"}. KEY and VALUE are escaped text (tool/text_form.h); the value may be
//           hex instead, which JSON tells by the name "value_hex". Escaped text is ASCII, so that
//           any bytes are a string of JSON; what a program writes into one as UTF-8 or as \uNNNN is
//           read as the UTF-8 bytes.
// Threads   pure.
// Errors    kInvalidArgument says what is wrong with the line.
#pragma once

#include <string>
#include <string_view>

#include "tool/text_form.h"
#include "weft/status.h"

namespace weft::tool {

// Without the line's end. No `value`: without it.
std::string TextLine(std::string_view key, const std::string_view* value, Form values);
std::string JsonLine(std::string_view key, const std::string_view* value, Form values);

struct Entry {
  std::string key;
  std::string value;
};

// A line of either kind, without its end. `values`: of a line of text.
Result<Entry> ParseLine(std::string_view line, Form values);

}  // namespace weft::tool
