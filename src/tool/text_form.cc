#include "tool/text_form.h"

#include <charconv>

namespace weft::tool {

namespace {

void AppendHex(std::string* text, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<uint8_t>(c);
  *text += kDigits[byte >> 4];
  *text += kDigits[byte & 15];
}

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '\\' && c != '\''; }

}  // namespace

std::string ToText(std::string_view bytes, Form form) {
  std::string text;
  text.reserve(bytes.size() * (form == Form::kHex ? 2 : 1));
  for (const char c : bytes) {
    if (form == Form::kEscaped && IsPlain(c)) {
      text += c;
    } else if (form == Form::kEscaped && c == '\\') {
      text += "\\\\";
    } else {
      if (form == Form::kEscaped) text += "\\x";
      AppendHex(&text, c);
    }
  }
  return text;
}

Result<std::string> FromEscaped(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes += '\\';
      i++;
    } else {
      uint8_t byte = 0;
      const char* const digits = text.data() + i + 2;
      const bool fits = i + 4 <= text.size() && text[i + 1] == 'x';
      if (!fits || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
        return Status(Code::kInvalidArgument, "'" + std::string(text) + "': the backslash at " +
                                                  std::to_string(i) +
                                                  " does not begin \\\\ or \\xNN");
      }
      bytes += static_cast<char>(byte);
      i += 3;
    }
  }
  return bytes;
}

Result<std::string> FromHex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const char* const digits = text.data() + i;
    if (i + 2 > text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      return Status(
          Code::kInvalidArgument,
          "'" + std::string(text) + "': two hex digits are missing at " + std::to_string(i));
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

Result<std::string> FromText(std::string_view text, Form form) {
  return form == Form::kHex ? FromHex(text) : FromEscaped(text);
}

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (c < ' ') {
      json += "\\u00";
      AppendHex(&json, c);
    } else {
      json += c;
    }
  }
  return json + '"';
}

}  // namespace weft::tool
